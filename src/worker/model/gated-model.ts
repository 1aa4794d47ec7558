import { setTimeout as sleep } from 'node:timers/promises';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Model } from './model.js';
import { askedPauseMs, longestPauseInPlaceMs } from './throttled.js';

/** However long an endpoint asks to be left alone, other turns' calls find out after this whether it still does. */
const longestClosedMs = 60_000;

interface Pause {
  readonly until: number;
  readonly reason: SkillmillError;
}

/**
 * A model whose endpoint is left alone for as long as it asked: this worker's other calls to it wait, or fail as that one did when the
 * pause is long, so that their turns give their slots up. A 429 closes only the model that was asked for (rate limits are a model's:
 * OpenAI, Rate limits), so that its stand-ins are asked; any other answer closes the endpoint. Calls to other endpoints go on.
 */
export function createGatedModel(model: Model): Model {
  const pauses = new Map<string, Pause>();
  const close = (which: string, until: number, reason: SkillmillError) => {
    if (until > (pauses.get(which)?.until ?? 0)) pauses.set(which, { until, reason });
  };
  return {
    async call(request, hooks) {
      const pause = longest(pauses.get(whole), pauses.get(request.model));
      if (pause !== undefined) await waitFor(pause, hooks.signal);
      try {
        return await model.call(request, hooks);
      } catch (error) {
        if (error instanceof SkillmillError && askedPauseMs(error) > 0) {
          const which = error.details?.['status'] === 429 ? request.model : whole;
          const ms = Math.min(askedPauseMs(error), longestClosedMs);
          close(which, performance.now() + ms, error);
        }
        throw error;
      }
    },
  };
}

/** In place of a model's name: the endpoint. */
const whole = '';

function longest(one: Pause | undefined, other: Pause | undefined): Pause | undefined {
  return (one?.until ?? 0) > (other?.until ?? 0) ? one : other;
}

/** @throws the pause's reason with what is left of it, when that is long; the signal's reason */
async function waitFor({ until, reason }: Pause, signal: AbortSignal): Promise<void> {
  const leftMs = until - performance.now();
  if (leftMs > longestPauseInPlaceMs) {
    throw new SkillmillError(reason.code, reason.message, {
      details: { ...reason.details, retryAfterMs: Math.ceil(leftMs) },
    });
  }
  if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}
