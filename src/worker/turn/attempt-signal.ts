import type { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { limitExceeded } from '../agent/turn-limits.js';

/** One signal for an attempt: lost lease, cancel, time limit and shutdown are one mechanism, told apart by the reason's code. */
export interface AttemptSignal {
  readonly signal: AbortSignal;
  /** Ends the attempt: what it has done cannot be gone on with here. */
  readonly fail: (error: SkillmillError) => void;
  /** Ends the attempt's timer. */
  dispose(): void;
}

/** Joins what may end an attempt early. `sources` carry SkillmillErrors as their reasons; the turn's time began with its first attempt. */
export function createAttemptSignal(
  sources: readonly AbortSignal[],
  turnTimeoutMs: number,
  elapsedMs: number,
): AttemptSignal {
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(limitExceeded('turnTimeoutMs', `its ${turnTimeoutMs / 1000} s`)),
    Math.max(0, turnTimeoutMs - elapsedMs),
  );
  return {
    signal: AbortSignal.any([...sources, timeout.signal]),
    fail: (error) => timeout.abort(error),
    dispose: () => clearTimeout(timer),
  };
}
