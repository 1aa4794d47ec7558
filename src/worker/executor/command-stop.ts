/** What ended a command: itself, its time, or the caller. */
export type StopCause = 'ended' | 'timedOut' | 'aborted';

/** How long all that a command started may take to end by itself after SIGTERM, in milliseconds, before it is killed: tRPC-Agent's
 *  grace for one that ran past its time; little for one that nobody waits for any more. */
export const graceMs: Readonly<Record<StopCause, number>> = {
  ended: 0,
  timedOut: 2000,
  aborted: 100,
};

/** Waits until a command has ended, its time (in milliseconds) is up or the signal aborts, whichever is first; leaves no timer
 *  and no listener behind. @throws what `ended` rejects with */
export async function waitForStop(
  ended: Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<StopCause> {
  if (signal.aborted) {
    ended.catch(() => undefined);
    return 'aborted';
  }
  let stop: (cause: StopCause) => void = () => undefined;
  const stopped = new Promise<StopCause>((resolve) => (stop = resolve));
  const timer = setTimeout(() => stop('timedOut'), timeoutMs);
  const onAbort = () => stop('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([stopped, ended.then(() => 'ended' as const)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
