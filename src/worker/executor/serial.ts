/** Runs tasks one after another, in the order they came. A failed task does not hold up the next. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the task when all before it have ended, and gives its outcome. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const outcome = this.#last.then(task);
    this.#last = outcome.catch(() => undefined);
    return outcome;
  }

  /** Waits for its turn; the returned function gives it to the next and may be called twice. */
  async enter(): Promise<() => void> {
    return await new Promise((entered) => {
      void this.run(() => new Promise<void>((leave) => entered(leave)));
    });
  }
}
