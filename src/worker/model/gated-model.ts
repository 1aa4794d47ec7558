import { setTimeout as sleep } from 'node:timers/promises';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Model } from './model.js';
import { askedPauseMs, longestPauseInPlaceMs } from './throttled.js';

/**
 * A model whose endpoint is left alone for as long as it asked: this worker's other calls to it wait, or fail as that one did when the
 * pause is long, so that their turns give their slots up. Calls to other endpoints go on.
 */
export function createGatedModel(model: Model): Model {
  let closedUntil = 0;
  let reason: SkillmillError | undefined;
  return {
    async call(request, hooks) {
      const leftMs = closedUntil - performance.now();
      if (leftMs > longestPauseInPlaceMs && reason !== undefined) {
        throw new SkillmillError(reason.code, reason.message, {
          details: { ...reason.details, retryAfterMs: Math.ceil(leftMs) },
        });
      }
      if (leftMs > 0)
        await sleep(leftMs, undefined, { signal: hooks.signal }).catch(() => undefined);
      hooks.signal.throwIfAborted();
      try {
        return await model.call(request, hooks);
      } catch (error) {
        if (error instanceof SkillmillError && askedPauseMs(error) > 0) {
          closedUntil = Math.max(closedUntil, performance.now() + askedPauseMs(error));
          reason = error;
        }
        throw error;
      }
    },
  };
}
