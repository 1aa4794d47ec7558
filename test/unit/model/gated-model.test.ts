import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { createGatedModel } from '../../../src/worker/model/gated-model.js';
import type { ModelReply, ModelRequest } from '../../../src/worker/model/model.js';

const reply: ModelReply = { text: 'hi', toolCalls: [], finish: 'stop', usage: undefined };
const request: ModelRequest = { model: 'a', messages: [], tools: [] };
const hooks = (signal = new AbortController().signal) => ({ signal, onText: () => undefined });

/** An endpoint that asks to be left alone for so long at its first call, and answers from then on. */
function openEndpoint(retryAfterMs?: number, status = 429) {
  let calls = 0;
  let openAt = 0;
  const early: number[] = [];
  const model = createGatedModel({
    call: () => {
      calls += 1;
      // A timer may fire up to a millisecond early.
      if (performance.now() < openAt - 1) early.push(calls);
      if (calls > 1 || retryAfterMs === undefined) return Promise.resolve(reply);
      openAt = performance.now() + retryAfterMs;
      const details = { status, retryAfterMs };
      return Promise.reject(new SkillmillError('MODEL_UNAVAILABLE', 'Too many.', { details }));
    },
  });
  return { model, early, calls: () => calls };
}

describe('an endpoint that asks to be left alone', () => {
  it('for a moment is: the next calls wait', async () => {
    const { model, early } = openEndpoint(200);
    await expect(model.call(request, hooks())).rejects.toThrow('Too many.');
    const next = [model.call(request, hooks()), model.call(request, hooks())];
    expect(await Promise.all(next)).toEqual([reply, reply]);
    expect(early).toEqual([]);
  });

  it('for long is: the next calls fail with what is left of the pause, and are not made', async () => {
    const { model, calls } = openEndpoint(60_000);
    await expect(model.call(request, hooks())).rejects.toThrow('Too many.');
    const failure = await model.call(request, hooks()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'MODEL_UNAVAILABLE', details: { status: 429 } });
    const { details } = SkillmillError.from(failure);
    expect(details?.['retryAfterMs']).toBeLessThanOrEqual(60_000);
    expect(details?.['retryAfterMs']).toBeGreaterThan(2000);
    expect(calls()).toBe(1);
  });

  it('for one model’s sake answers for the others; for its own sake for none', async () => {
    const limited = openEndpoint(60_000);
    await expect(limited.model.call(request, hooks())).rejects.toThrow('Too many.');
    expect(await limited.model.call({ ...request, model: 'b' }, hooks())).toEqual(reply);
    const overloaded = openEndpoint(60_000, 503);
    await expect(overloaded.model.call(request, hooks())).rejects.toThrow('Too many.');
    await expect(overloaded.model.call({ ...request, model: 'b' }, hooks())).rejects.toThrow('Too');
  });

  it('for hours is asked again after a minute', async () => {
    const { model } = openEndpoint(3_600_000);
    await expect(model.call(request, hooks())).rejects.toThrow('Too many.');
    const failure = await model.call(request, hooks()).catch((error: unknown) => error);
    expect(SkillmillError.from(failure).details?.['retryAfterMs']).toBeLessThanOrEqual(60_000);
  });

  it('keeps nobody from another endpoint', async () => {
    const closed = openEndpoint(60_000);
    const other = openEndpoint();
    await expect(closed.model.call(request, hooks())).rejects.toThrow('Too many.');
    expect(await other.model.call(request, hooks())).toEqual(reply);
  });

  it('is waited for no longer than until an abort', async () => {
    const { model, calls } = openEndpoint(1900);
    await expect(model.call(request, hooks())).rejects.toThrow('Too many.');
    const aborting = new AbortController();
    const waiting = model.call(request, hooks(aborting.signal));
    aborting.abort(new SkillmillError('CANCELLED', 'Enough.'));
    await expect(waiting).rejects.toThrow('Enough.');
    expect(calls()).toBe(1);
  });
});
