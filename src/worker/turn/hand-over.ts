import { SkillmillError } from '../../shared/errors/skillmill-error.js';

/** How long a step that is under way may take to its end. */
const stepMs = 1500;

/** How a worker that stops gives its running turns to others: each at its next step, and what is in the middle of a long one soon after. */
export class HandOver {
  private readonly stepAside = new AbortController();
  private readonly stop = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  /** Aborted when no turn is to begin another step. Its reason has the code HANDED_OVER. */
  get atNextStep(): AbortSignal {
    return this.stepAside.signal;
  }

  /** Aborted when no step is to go on, with the same reason. */
  get atOnce(): AbortSignal {
    return this.stop.signal;
  }

  /** The grace time is over. */
  begin(): void {
    if (this.stepAside.signal.aborted) return;
    this.stepAside.abort(stopping());
    this.timer = setTimeout(() => this.force(), stepMs);
  }

  /** Waits for no step. */
  force(): void {
    this.dispose();
    this.stepAside.abort(stopping());
    this.stop.abort(stopping());
  }

  /** Ends its timer: nothing runs any more. */
  dispose(): void {
    clearTimeout(this.timer);
  }
}

function stopping(): SkillmillError {
  return new SkillmillError('HANDED_OVER', 'The worker stops; another one goes on with the turn.');
}
