import { setTimeout as sleep } from 'node:timers/promises';

/** Does `work` now and then every `ms` until the signal; a failure is told and does not end it. Resolves when it has stopped. */
export async function repeat(
  ms: number,
  signal: AbortSignal,
  work: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(onFailure);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }
}
