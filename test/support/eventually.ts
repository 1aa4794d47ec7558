import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `look` gives something other than undefined; what it last threw or said is told when the time is over. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  withinMs = 30_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  let last: unknown;
  do {
    try {
      const found = await look();
      if (found !== undefined) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(50);
  } while (Date.now() < end);
  throw new Error(`${what} did not come about within ${withinMs} ms`, { cause: last });
}
