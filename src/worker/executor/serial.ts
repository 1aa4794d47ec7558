import { untilAbort } from '../async/until-abort.js';

/** Runs tasks one after another, in the order they came. A failed task does not hold up the next. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task when all before it have ended, and gives its outcome. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const outcome = this.#last.then(task);
    this.#last = outcome.catch(() => undefined);
    return outcome;
  }

  /** Waits for its turn, or until the signal aborts; the returned function gives the turn to the next and may be called twice.
   *  @throws the signal's reason */
  async enter(signal: AbortSignal): Promise<() => void> {
    const turn = new Promise<() => void>((entered) => {
      void this.run(() => new Promise<void>((leave) => entered(leave)));
    });
    try {
      return await untilAbort(turn, signal);
    } catch (thrown) {
      void turn.then((leave) => leave()); // when it comes nobody takes it
      throw thrown;
    }
  }
}
