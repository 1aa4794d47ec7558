import type { SkillmillError } from '../../shared/errors/skillmill-error.js';

/** A longer pause than this is not waited for in a worker's slot: giving the slot up costs the turn its sandbox. */
export const longestPauseInPlaceMs = 2000;

/** Does the endpoint ask for a pause (429, or a Retry-After of any status) rather than fail? */
export function isThrottled({ code, details }: Pick<SkillmillError, 'code' | 'details'>): boolean {
  if (code !== 'MODEL_UNAVAILABLE') return false;
  return details?.['status'] === 429 || askedPauseMs({ details }) > longestPauseInPlaceMs;
}

/** Milliseconds that the endpoint asked to wait; 0 when it did not. */
export function askedPauseMs({ details }: Pick<SkillmillError, 'details'>): number {
  const asked = details?.['retryAfterMs'];
  return typeof asked === 'number' ? asked : 0;
}
