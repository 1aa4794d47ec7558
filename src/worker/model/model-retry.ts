import pRetry from 'p-retry';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Model, ModelReply, ModelRequest } from './model.js';

/** Tries of one model call, the first included. */
export const modelTries = 3;
const firstPauseMs = 500;

export interface RetryHooks {
  readonly signal: AbortSignal;
  /** A try failed and another follows after this pause. */
  readonly onRetry: (error: SkillmillError, afterMs: number) => void;
}

/** The one place where a model call is made again: up to three tries, with growing, jittered pauses that an abort ends at once. */
export async function callWithRetries(
  model: Model,
  request: ModelRequest,
  hooks: RetryHooks,
): Promise<ModelReply> {
  return pRetry(() => model.call(request, hooks.signal), {
    retries: modelTries - 1,
    minTimeout: firstPauseMs,
    factor: 2,
    randomize: true,
    signal: hooks.signal,
    shouldRetry: ({ error }) => mayRetry(error),
    onFailedAttempt: ({ error, retriesLeft, attemptNumber }) => {
      if (retriesLeft === 0 || !mayRetry(error)) return;
      hooks.onRetry(SkillmillError.from(error), firstPauseMs * 2 ** (attemptNumber - 1));
    },
  });
}

function mayRetry(error: unknown): boolean {
  return error instanceof SkillmillError && error.code === 'MODEL_UNAVAILABLE';
}
