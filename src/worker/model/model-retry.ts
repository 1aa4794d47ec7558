import pRetry from 'p-retry';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Model, ModelReply, ModelRequest } from './model.js';
import { askedPauseMs, longestPauseInPlaceMs } from './throttled.js';

/** Tries of one model, the first included. */
const modelTries = 3;
const firstPauseMs = 500;

export interface RetryHooks {
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
  /** A try failed; another follows after this pause at the earliest. */
  readonly onRetry: (error: SkillmillError, afterMs: number) => void;
  /** Waits so many milliseconds; a timer when absent. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A reply, and the model that gave it. */
export interface ModelAnswer {
  readonly reply: ModelReply;
  readonly model: string;
}

/**
 * The one place where a model call is made again in a worker's slot: up to three tries with growing, jittered pauses that an abort ends
 * at once; then the next of the models, in order. An endpoint that asks for a longer pause ends the tries: the turn waits as a job.
 */
export async function callWithRetries(
  model: Model,
  request: Omit<ModelRequest, 'model'>,
  models: readonly string[],
  hooks: RetryHooks,
): Promise<ModelAnswer> {
  for (const [index, name] of models.entries()) {
    const next = models[index + 1];
    try {
      const reply = await callOne(model, { ...request, model: name }, hooks);
      return { reply, model: name };
    } catch (error) {
      if (next === undefined || !mayRetry(error)) throw error;
      hooks.onRetry(SkillmillError.from(error), 0);
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
    shouldRetry: ({ error }) => mayRetryInPlace(error),
    onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
      if (retriesLeft === 0 || !mayRetryInPlace(error)) return;
      const asked = askedPauseMs(error);
      const ownPause = firstPauseMs * 2 ** (attemptNumber - 1);
      hooks.onRetry(error, asked + ownPause);
      // The library's own jittered pause follows, so that many workers do not come back at once.
      if (asked > 0) await (hooks.pause ?? sleepFor)(asked, signal).catch(() => undefined);
    },
  });
}

function mayRetry(error: unknown): error is SkillmillError {
  return error instanceof SkillmillError && error.code === 'MODEL_UNAVAILABLE';
}

function mayRetryInPlace(error: unknown): error is SkillmillError {
  return mayRetry(error) && askedPauseMs(error) <= longestPauseInPlaceMs;
}

function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal });
}
