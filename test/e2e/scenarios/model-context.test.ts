import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import type { Reply, WireRequest } from '../../../examples/scripted-model.js';
import { call } from '../../support/skill-turns.js';
import { inOrder, openTurnsDesk, type TurnsDesk } from '../../support/turns-desk.js';
import { textOf } from '../../../examples/scripted-model.js';

const window = 6000;
const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');
const textsOf = (request: WireRequest | undefined) => (request?.messages ?? []).map(textOf);
const sizeOf = (request: WireRequest | undefined) =>
  encode(
    [
      ...textsOf(request),
      ...(request?.messages ?? []).map((message) => JSON.stringify(message.tool_calls ?? '')),
      JSON.stringify(request?.tools),
    ].join('\n'),
  ).length;
const bigRun = (lines: number) =>
  call('skill_run', { skill: 'file-tools', command: `seq ${lines}; echo run` });

/** An endpoint that refuses what is longer than its window. */
const refuses = (limit: number): Reply => ({
  status: 400,
  body: JSON.stringify({
    error: { message: `maximum context length is ${limit} tokens, but the input has 99999` },
  }),
});

describe('a window of known size', () => {
  let desk: TurnsDesk;
  beforeAll(async () => {
    desk = await openTurnsDesk({ SKILLMILL_CONTEXT_TOKENS: String(window) });
  });
  afterAll(() => desk.close());

  it('is never passed: old results are shortened, then old turns go [context-window]', async () => {
    const sessionId = 'long';
    for (let turn = 0; turn < 6; turn += 1) {
      const { result, requests } = await desk.turn(
        [bigRun(700 + turn), { text: `answer ${turn} ${words(150)}` }],
        { sessionId, input: words(200) },
      );
      expect(result.status).toBe('completed');
      for (const request of requests) expect(sizeOf(request)).toBeLessThan(window);
    }
    const { requests } = await desk.turn([{ text: 'done' }], { sessionId });
    const told = textsOf(requests[0]).join('\n');
    expect(told).toContain('of this result are left out');
    expect(told).toContain('answer 5');
    expect(told).not.toContain('answer 0');
    expect(desk.world.model.faults).toEqual([]);
  });

  it('that the turn itself passes fails it before the endpoint is asked [context-window]', async () => {
    const { result, requests } = await desk.turn([{ text: 'x' }], { input: words(5000) });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'CONTEXT_OVERFLOW' } });
    expect(result.error?.message).toContain('SKILLMILL_CONTEXT_TOKENS');
    expect(requests).toHaveLength(0);
  });
});

describe('an endpoint that finds the conversation too long', () => {
  let desk: TurnsDesk;
  beforeAll(async () => {
    desk = await openTurnsDesk();
  });
  afterAll(() => desk.close());

  it('gets a shorter one, once [context-window]', async () => {
    const sessionId = 'shrinks';
    await desk.turn([bigRun(2000), { text: `first ${words(300)}` }], { sessionId });
    const { result, requests } = await desk.turn(inOrder([refuses(2500), { text: 'fits' }]), {
      sessionId,
    });
    expect(result).toMatchObject({ status: 'completed', output: 'fits' });
    expect(requests).toHaveLength(2);
    expect(sizeOf(requests[1])).toBeLessThan(sizeOf(requests[0]) * 0.8);
    expect(desk.world.model.faults).toEqual([]);
    const again = await desk.turn(inOrder([refuses(500), refuses(400)]), { sessionId });
    expect(again.result.error).toMatchObject({ code: 'CONTEXT_OVERFLOW', retryable: false });
    expect(again.requests).toHaveLength(2);
  });

  it('is not asked again for what cannot be shortened [context-window]', async () => {
    const { result, requests } = await desk.turn(inOrder([refuses(100)]));
    expect(result.error).toMatchObject({
      code: 'CONTEXT_OVERFLOW',
      details: { limit: 100, asked: 99_999 },
    });
    expect(result.error?.message).toMatch(/99999 tokens.*takes 100/);
    expect(requests).toHaveLength(1);
  });
});

describe('old turns', () => {
  it('may be summarised by the model [context-window]', async () => {
    const env = {
      SKILLMILL_CONTEXT_TOKENS: String(window),
      SKILLMILL_CONTEXT_OVERFLOW: 'summarize',
    };
    const desk = await openTurnsDesk(env);
    const summary = { text: 'SUMMARY: the user counts words' };
    // What the model is asked to summarise begins so; the summary before stands first.
    for (const beginning of ['User: ', `Earlier: ${summary.text}`]) {
      desk.world.script(beginning, [summary]);
    }
    const sessionId = 'summed';
    for (let turn = 0; turn < 4; turn += 1) {
      await desk.turn([{ text: `answer ${turn} ${words(300)}` }], { sessionId, input: words(500) });
    }
    const { requests, result } = await desk.turn([{ text: 'done' }], { sessionId });
    expect(result.status).toBe('completed');
    const [system = '', ...others] = textsOf(requests.at(-1));
    expect(system).toContain('SUMMARY: the user counts words');
    expect(others.join('\n')).not.toContain('answer 0');
    expect(others.join('\n')).toContain('answer 3');
    expect(desk.world.model.faults).toEqual([]);
    await desk.close();
  });

  it('that showed a skill which is still loaded leave it at the top [context-window]', async () => {
    const env = {
      SKILLMILL_CONTEXT_TOKENS: String(window),
      SKILLMILL_SKILL_MODE: 'session',
    };
    const desk = await openTurnsDesk(env);
    const sessionId = 'shows';
    await desk.turn([call('skill_load', { skill_name: 'file-tools' }), { text: 'loaded' }], {
      sessionId,
    });
    for (let turn = 0; turn < 5; turn += 1) {
      await desk.turn([{ text: `answer ${turn} ${words(300)}` }], { sessionId, input: words(600) });
    }
    const { requests } = await desk.turn([{ text: 'done' }], { sessionId });
    const [system = '', ...others] = textsOf(requests.at(-1));
    expect(system).toContain('[Loaded] file-tools');
    expect(others.join('\n')).not.toContain('[Loaded]');
    await desk.close();
  });
});
