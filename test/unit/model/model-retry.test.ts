import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { callWithRetries } from '../../../src/worker/model/model-retry.js';
import type { Model, ModelReply } from '../../../src/worker/model/model.js';

const reply: ModelReply = { text: 'hi', toolCalls: [], finish: 'stop', usage: undefined };
const away = (retryAfterMs?: number) =>
  new SkillmillError('MODEL_UNAVAILABLE', 'It is away.', { details: { retryAfterMs } });

/** Calls a model whose tries end so, one after another; tells which models were asked and what was waited for. */
async function call(tries: readonly (ModelReply | SkillmillError)[], models = ['a']) {
  const asked: string[] = [];
  const pauses: number[] = [];
  const told: number[] = [];
  const model: Model = {
    call: ({ model: name }) => {
      const outcome = tries[asked.length] ?? reply;
      asked.push(name);
      return outcome instanceof SkillmillError ? Promise.reject(outcome) : Promise.resolve(outcome);
    },
  };
  const outcome = await callWithRetries(model, { messages: [], tools: [] }, models, {
    signal: new AbortController().signal,
    onText: () => undefined,
    onRetry: (_, afterMs) => told.push(afterMs),
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
  }).catch((error: unknown) => error);
  return { asked, pauses, told, outcome };
}

describe('a call that fails', () => {
  it('waits as long as the endpoint asks, and says so', async () => {
    const { asked, pauses, told, outcome } = await call([away(1500), reply]);
    expect(outcome).toEqual({ reply, model: 'a' });
    expect([asked, pauses]).toEqual([['a', 'a'], [1500]]);
    expect(told[0]).toBeGreaterThanOrEqual(1500);
  });

  it('is not made again when the endpoint asks for too long a wait', async () => {
    const { asked, pauses, outcome } = await call([away(61_000)]);
    expect(outcome).toMatchObject({ code: 'MODEL_UNAVAILABLE', details: { retryAfterMs: 61_000 } });
    expect([asked, pauses]).toEqual([['a'], []]);
  });

  it('is made three times, then by the next model', async () => {
    const { asked, outcome } = await call([away(), away(), away(), reply], ['a', 'b']);
    expect(asked).toEqual(['a', 'a', 'a', 'b']);
    expect(outcome).toEqual({ reply, model: 'b' });
  });

  it('for another reason is neither made again nor stood in for', async () => {
    const rejected = new SkillmillError('MODEL_REJECTED', 'No.');
    const { asked, outcome } = await call([rejected], ['a', 'b']);
    expect([asked, outcome]).toEqual([['a'], rejected]);
  });
});
