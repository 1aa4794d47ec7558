import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Model, ModelReply, ModelRequest } from './model.js';

/** Tries of one model, the first included. */
export const modelTries = 3;
const firstPauseMs = 500;
/** A longer wait than this would hold the worker's slot for nothing: the call fails, and says when to come again. */
export const maxRetryAfterMs = 60_000;

export interface RetryHooks {
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
  /** A try failed; another follows after this pause at the earliest, with this model. */
  readonly onRetry: (error: SkillmillError, afterMs: number, model: string) => void;
}

/** A reply, and the model that gave it. */
export interface AnsweredCall {
  readonly reply: ModelReply;
  readonly model: string;
}

/**
 * The one place where a model call is made again: up to three tries with growing, jittered pauses (longer where the endpoint asks
 * for it) that an abort ends at once; then the next of the models, in order.
 */
export async function callWithRetries(
  model: Model,
  request: Omit<ModelRequest, 'model'>,
  models: readonly string[],
  hooks: RetryHooks,
): Promise<AnsweredCall> {
  for (const [index, name] of models.entries()) {
    const next = models[index + 1];
    try {
      const reply = await callOne(model, { ...request, model: name }, hooks);
      return { reply, model: name };
    } catch (error) {
      if (next === undefined || !mayRetry(error)) throw error;
      hooks.onRetry(SkillmillError.from(error), 0, next);
    }
  }
  throw new SkillmillError('INTERNAL', 'A model call without a model.');
}

function callOne(model: Model, request: ModelRequest, hooks: RetryHooks): Promise<ModelReply> {
  const { signal, onText } = hooks;
  return pRetry(() => model.call(request, { signal, onText }), {
    retries: modelTries - 1,
    minTimeout: firstPauseMs,
    factor: 2,
    randomize: true,
    signal,
    shouldRetry: ({ error }) => mayRetry(error) && askedPause(error) <= maxRetryAfterMs,
    onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
      const asked = askedPause(error);
      if (retriesLeft === 0 || !mayRetry(error) || asked > maxRetryAfterMs) return;
      const pause = firstPauseMs * 2 ** (attemptNumber - 1);
      hooks.onRetry(SkillmillError.from(error), asked + pause, request.model);
      // The library's own jittered pause follows, so that many workers do not come back at once.
      if (asked > 0) await sleep(asked, undefined, { signal }).catch(() => undefined);
    },
  });
}

/** Milliseconds that the endpoint asked to wait; 0 when it did not. */
function askedPause(error: unknown): number {
  const asked = error instanceof SkillmillError ? error.details?.['retryAfterMs'] : undefined;
  return typeof asked === 'number' ? asked : 0;
}

function mayRetry(error: unknown): boolean {
  return error instanceof SkillmillError && error.code === 'MODEL_UNAVAILABLE';
}
