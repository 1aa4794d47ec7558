import { describe, expect, it } from 'vitest';
import { SkillmillError, type ErrorDetails } from '../../../src/shared/errors/skillmill-error.js';
import type { BudgetPort } from '../../../src/worker/agent/budget-port.js';
import { budgetedModel } from '../../../src/worker/agent/budgeted-model.js';
import type {
  ModelCallHooks,
  ModelReply,
  ModelRequest,
  ModelUsage,
} from '../../../src/worker/model/model.js';

const usage = { inputTokens: 20, cachedInputTokens: 5, outputTokens: 3 };
const reply: ModelReply = { text: 'yes', toolCalls: [], finish: 'stop', usage };
const request: ModelRequest = { model: 'gpt', messages: [], tools: [] };
const hooks: ModelCallHooks = { signal: new AbortController().signal, onText: () => undefined };
const failure = (code: 'MODEL_UNAVAILABLE' | 'MODEL_PROTOCOL', details: ErrorDetails = {}) =>
  new SkillmillError(code, 'no', { details });

/** Ten tokens a request, one a character. */
const counter = {
  ofRequest: () => Promise.resolve(10),
  ofText: (text: string) => Promise.resolve(text.length),
};

/** A model that gives these answers, one a call, and a budget that writes down what is asked of it. */
function setUp(
  answers: readonly (ModelReply | Error | ((hooks: ModelCallHooks) => ModelReply))[],
  { isLimited = true, maxOutputTokens }: { isLimited?: boolean; maxOutputTokens?: number } = {},
) {
  const log: unknown[] = [];
  const budget: BudgetPort = {
    isLimited,
    reserve: (call) => {
      log.push(['reserve', call.inputTokens, call.maxOutputTokens]);
      return Promise.resolve({
        maxOutputTokens,
        settle: (spent: ModelUsage) => Promise.resolve(void log.push(['settle', spent])),
        release: () => Promise.resolve(void log.push('release')),
      });
    },
  };
  const left = [...answers];
  const model = {
    call: (asked: ModelRequest, given: ModelCallHooks) => {
      log.push(['call', asked.maxOutputTokens]);
      const answer = left.shift();
      if (answer instanceof Error) return Promise.reject(answer);
      if (answer === undefined) return Promise.reject(new Error('no answer is left'));
      return Promise.resolve(typeof answer === 'function' ? answer(given) : answer);
    },
  };
  return { log, model: budgetedModel(model, budget, counter) };
}

describe('a budgeted model', () => {
  it('reserves before the call and settles after it', async () => {
    const { log, model } = setUp([reply]);
    expect(await model.call(request, hooks)).toEqual(reply);
    expect(log).toEqual([
      ['reserve', 10, undefined],
      ['call', undefined],
      ['settle', usage],
    ]);
  });

  it('counts nothing beforehand where there is no budget', async () => {
    const { log, model } = setUp([reply], { isLimited: false });
    await model.call(request, hooks);
    expect(log[0]).toEqual(['reserve', 0, undefined]);
  });

  it('sends the output limit that its budget needs', async () => {
    const { log, model } = setUp([reply], { maxOutputTokens: 40 });
    await model.call(request, hooks);
    expect(log[1]).toEqual(['call', 40]);
  });

  it('is corrected by what the endpoint counts, upwards and within bounds', async () => {
    const counting = (inputTokens: number) => ({ ...reply, usage: { ...usage, inputTokens } });
    const { log, model } = setUp([20, 15, 1e12, 10].map(counting));
    for (let n = 0; n < 4; n += 1) await model.call(request, hooks);
    const reserved = log.filter((entry) => Array.isArray(entry) && entry[0] === 'reserve');
    expect(reserved.map((entry) => (entry as unknown[])[1])).toEqual([10, 20, 20, 40]);
  });

  it('estimates where the endpoint gives no usage', async () => {
    const calls = [{ id: 'c', name: 'f', arguments: '{}' }];
    const { log, model } = setUp([{ ...reply, usage: undefined, toolCalls: calls }]);
    const estimated = {
      inputTokens: 10,
      cachedInputTokens: 0,
      outputTokens: 'yes\n\nf {}'.length,
      estimated: true,
    };
    expect((await model.call(request, hooks)).usage).toEqual(estimated);
    expect(log.at(-1)).toEqual(['settle', estimated]);
  });

  it('does not call when nothing is left', async () => {
    const spent = new SkillmillError('LIMIT_EXCEEDED', 'spent');
    let calls = 0;
    const model = budgetedModel(
      { call: () => Promise.resolve(((calls += 1), reply)) },
      { isLimited: true, reserve: () => Promise.reject(spent) },
      counter,
    );
    await expect(model.call(request, hooks)).rejects.toBe(spent);
    expect(calls).toBe(0);
  });
});

describe('a call that fails', () => {
  it('is not counted when the endpoint refused it or was not there', async () => {
    const { log, model } = setUp([failure('MODEL_UNAVAILABLE', { status: 500 })]);
    await expect(model.call(request, hooks)).rejects.toThrow('no');
    expect(log.at(-1)).toBe('release');
  });

  it.each([
    ['had begun to answer', failure('MODEL_UNAVAILABLE'), 'half', 4],
    ['answered with what cannot be read', failure('MODEL_PROTOCOL'), '', 0],
    ['was left when the turn was cancelled', new SkillmillError('CANCELLED', 'no'), '', 0],
  ])('is counted by an estimate when the endpoint %s', async (_, error, said, outputTokens) => {
    const { log, model } = setUp([
      (given) => {
        given.onText(said);
        throw error;
      },
    ]);
    await expect(model.call(request, hooks)).rejects.toThrow('no');
    const settled = { inputTokens: 10, cachedInputTokens: 0, outputTokens, estimated: true };
    expect(log.at(-1)).toEqual(['settle', settled]);
  });
});
