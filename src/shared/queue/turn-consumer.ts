import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, Worker, type Job } from 'bullmq';
import { errorMessage } from '../errors/skillmill-error.js';
import type { Logger } from '../logging/logger.js';
import { queueName, queuePrefix } from '../redis/keys.js';
import type { RedisClient } from '../redis/redis-client.js';
import { shortReason } from '../redis/refusals.js';
import { turnPointerSchema, type TurnPointer } from './turn-queue.js';

/** What is to become of a job: `done` removes it (the turn may go on elsewhere or later), `delay` brings it back. */
export type ClaimOutcome =
  { readonly kind: 'done' } | { readonly kind: 'delay'; readonly ms: number };

/** Handles one claimed turn. */
export type ClaimHandler = (pointer: TurnPointer) => Promise<ClaimOutcome>;

/** The queue's worker side. */
export interface TurnConsumer {
  /** Takes no new jobs and waits for those that run; then for BullMQ's farewell, but not for a Redis that is away. */
  drain(): Promise<void>;
}

export interface ConsumerOptions {
  readonly client: RedisClient;
  readonly concurrency: number;
  readonly handler: ClaimHandler;
  readonly logger: Logger;
}

/** A dead worker's job is seen after the lock's time plus up to one check. */
const lockDurationMs = 6000;
const stalledIntervalMs = 2000;
/** How soon BullMQ asks again after a connection was closed under it; its own 15 s are longer than an outage. */
const askAgainMs = 500;
const farewellMs = 3000;
/** The same fault is told once in this time. */
const tellAgainMs = 10_000;
const rememberedFaults = 100;

/** Starts taking jobs. */
export function startTurnConsumer(options: ConsumerOptions): TurnConsumer {
  const { client, concurrency, handler, logger } = options;
  const running = new Set<Promise<ClaimOutcome>>();

  // BullMQ's lock decides nothing here: whoever lost it finds out from the session's lease, which fences each write.
  const process = async (job: Job<unknown>, token?: string) => {
    const claim = handler(turnPointerSchema.parse(job.data));
    running.add(claim);
    const outcome = await claim.finally(() => running.delete(claim));
    if (outcome.kind === 'done') return;
    await job.moveToDelayed(Date.now() + outcome.ms, token);
    throw new DelayedError();
  };

  const worker = new Worker<unknown>(queueName, process, {
    connection: client,
    prefix: queuePrefix,
    concurrency,
    lockDuration: lockDurationMs,
    stalledInterval: stalledIntervalMs,
    runRetryDelay: askAgainMs,
    // BullMQ would fail a job that stalls more often without ever calling us; attempts are counted by our claims.
    maxStalledCount: 1000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  tellFaults(worker, logger);
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
  return { drain: () => (closing ??= close()) };
}

function tellFaults(worker: Worker<unknown>, logger: Logger): void {
  worker.on('failed', (job, error) => {
    // The sweep gives the turn a new job while it has no result, so nothing is lost here.
    logger.log('warn', 'a job failed; its turn will be taken up again', {
      turnId: job?.id,
      reason: errorMessage(error),
    });
  });
  worker.on('lockRenewalFailed', (turnIds) => {
    logger.log('warn', 'BullMQ may hand these turns out again; their leases decide', { turnIds });
  });
  // A Redis that is away is found so by every command and each new try to connect.
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
