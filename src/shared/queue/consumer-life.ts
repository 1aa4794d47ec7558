import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'bullmq';
import type { Logger } from '../logging/logger.js';
import { shortReason } from '../redis/refusals.js';

/** How a consumer deals with dead workers and closed connections. */
export const patience = {
  /** A dead worker's job is seen after the lock's time plus up to one check. */
  lockDuration: 6000,
  stalledInterval: 2000,
  /** How soon BullMQ asks again after a connection was closed under it; its own 15 s are longer than an outage. */
  runRetryDelay: 500,
  /** BullMQ would fail a job that stalls more often without ever calling us. */
  maxStalledCount: 1000,
} as const;

const farewellMs = 3000;
/** The same fault is told once in this time. */
const tellAgainMs = 10_000;
const rememberedFaults = 100;

/** A drain that takes no new jobs and waits for `running`; then for BullMQ's farewell, but not for a Redis that is away. */
export function drainOf(
  worker: Worker<unknown>,
  running: ReadonlySet<Promise<unknown>>,
): () => Promise<void> {
  const close = async () => {
    const closed = worker.close();
    const farewell = () =>
      Promise.race([
        closed.then(() => true),
        sleep(farewellMs, false, { ref: false }), // without Redis BullMQ waits for ever; closeRedis ends what it leaves open
      ]);
    // A job that was fetched in the moment of closing still runs.
    do await Promise.allSettled(running);
    while (!(await farewell()) && running.size > 0);
  };
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}

/** Tells each fault of the queue's connections once in a while: a Redis that is away is found so by every command. */
export function tellConnectionFaults(worker: Worker<unknown>, logger: Logger): void {
  const toldAt = new Map<string, number>();
  worker.on('error', (error) => {
    const reason = shortReason(error);
    const now = performance.now();
    if (now - (toldAt.get(reason) ?? -Infinity) < tellAgainMs) return;
    if (toldAt.size > rememberedFaults) toldAt.clear();
    toldAt.set(reason, now);
    logger.log('warn', 'the queue reported a fault', { reason });
  });
}
