/** The outcome of a promise, or the signal's reason as soon as it aborts. The work itself goes on then, so it should mind the
 *  signal too; its failure is no news any more. @throws the signal's reason; what the work rejects with */
export async function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)));
  const done = work.then((value) => ({ value }));
  done.catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    const outcome = await Promise.race([done, aborted]);
    if (outcome !== undefined) return outcome.value;
    throw signal.reason;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
