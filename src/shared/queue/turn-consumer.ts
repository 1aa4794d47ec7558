import { DelayedError, Worker, type Job } from 'bullmq';
import { errorMessage } from '../errors/skillmill-error.js';
import type { Logger } from '../logging/logger.js';
import { queueName, queuePrefix } from '../redis/keys.js';
import type { RedisClient } from '../redis/redis-client.js';
import { turnPointerSchema, type TurnPointer } from './turn-queue.js';

/** What is to become of a job: `done` removes it (the turn may go on elsewhere or later), `delay` brings it back. */
export type ClaimOutcome =
  { readonly kind: 'done' } | { readonly kind: 'delay'; readonly ms: number };

/** Handles one claimed turn. */
export type ClaimHandler = (pointer: TurnPointer) => Promise<ClaimOutcome>;

/** The queue's worker side. */
export interface TurnConsumer {
  /** Takes no new jobs and waits for those that run. */
  drain(): Promise<void>;
}

export interface ConsumerOptions {
  readonly client: RedisClient;
  readonly concurrency: number;
  readonly handler: ClaimHandler;
  readonly logger: Logger;
}

/** A dead worker's job is seen after the lock's time plus up to one check. */
const lockDurationMs = 10_000;
const stalledIntervalMs = 5000;

/** Starts taking jobs. */
export function startTurnConsumer(options: ConsumerOptions): TurnConsumer {
  const { client, concurrency, handler, logger } = options;

  // BullMQ's lock decides nothing here: whoever lost it finds out from the session's lease, which fences each write.
  const process = async (job: Job<unknown>, token?: string) => {
    const outcome = await handler(turnPointerSchema.parse(job.data));
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
    // BullMQ would fail a job that stalls more often without ever calling us; attempts are counted by our claims.
    maxStalledCount: 1000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  worker.on('failed', (job, error) => {
    // The sweep gives the turn a new job while it has no result, so nothing is lost here.
    logger.log('warn', 'a job failed; its turn will be taken up again', {
      turnId: job?.id,
      reason: errorMessage(error),
    });
  });
  worker.on('error', (error) =>
    logger.log('warn', 'the queue reported a fault', { reason: errorMessage(error) }),
  );
  let closing: Promise<void> | undefined;
  return { drain: () => (closing ??= worker.close()) };
}
