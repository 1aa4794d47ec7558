import type { SkillmillError } from '../../shared/errors/skillmill-error.js';

const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/**
 * Milliseconds until a turn is tried again after so many tries came to nothing: twice as long each time, and up to half of it again at
 * random, so that many turns do not come back at once; longer where an endpoint asks for it.
 */
export function pauseAfter(tries: number, error: Pick<SkillmillError, 'details'>): number {
  const own = Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1));
  const asked = error.details?.['retryAfterMs'];
  const least = typeof asked === 'number' ? Math.max(own, asked) : own;
  return Math.round(least + (own / 2) * Math.random());
}
