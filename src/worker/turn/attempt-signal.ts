import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { limitExceeded } from '../agent/turn-limits.js';

/** How long after its end an attempt may still make durable what its finished commands have left. */
const keepMs = 5000;

/** The signals of an attempt: lost lease, cancel, time limit and shutdown are one mechanism, told apart by the reason's code. */
export interface AttemptSignal {
  /** Ends what the attempt does. */
  readonly signal: AbortSignal;
  /** Ends also what keeps the work that is done: at once where another attempt does it again, else a little later. */
  readonly keeping: AbortSignal;
  /** Ends the attempt: what it has done cannot be gone on with here. */
  readonly fail: (error: SkillmillError) => void;
  /** Bounds the time for keeping what is done. */
  endSoon(): void;
  /** Ends the attempt's timers. */
  dispose(): void;
}

/** Joins what may end an attempt early. `sources` carry SkillmillErrors as their reasons; the turn's time began with its first attempt. */
export function createAttemptSignal(
  sources: readonly AbortSignal[],
  turnTimeoutMs: number,
  elapsedMs: number,
): AttemptSignal {
  const own = new AbortController();
  const keeping = new AbortController();
  const signal = AbortSignal.any([...sources, own.signal]);
  const timer = setTimeout(
    () => own.abort(limitExceeded('turnTimeoutMs', `its ${turnTimeoutMs / 1000} s`)),
    Math.max(0, turnTimeoutMs - elapsedMs),
  );
  let keepTimer: NodeJS.Timeout | undefined;
  const endSoon = () => {
    keepTimer ??= setTimeout(() => keeping.abort(keptTooLong()), keepMs);
  };
  const onAbort = () => {
    const reason = SkillmillError.from(signal.reason);
    if (reason.code === 'CANCELLED' || reason.code === 'LIMIT_EXCEEDED') endSoon();
    else keeping.abort(reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal,
    keeping: keeping.signal,
    fail: (error) => own.abort(error),
    endSoon,
    dispose() {
      clearTimeout(timer);
      clearTimeout(keepTimer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

function keptTooLong(): SkillmillError {
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `The turn has ended, and its files could not be kept within ${keepMs / 1000} s.`,
  );
}
