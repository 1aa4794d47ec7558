import type { Job, Worker } from 'bullmq';
import { errorMessage } from '../errors/skillmill-error.js';
import type { Logger } from '../logging/logger.js';
import { queueName, queuePrefix } from '../redis/keys.js';
import type { RedisClient } from '../redis/redis-client.js';
import { bullmq } from './bullmq.js';
import { drainOf, patience, tellConnectionFaults } from './consumer-life.js';
import { turnPointerSchema, type TurnPointer } from './turn-queue.js';

/** What is to become of a job: `done` removes it (the turn may go on elsewhere or later), `delay` brings it back, with 0 ms at once. */
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
    // By whoever's clock a delay has passed: none is waited for. (BullMQ's moveToWait wakes nobody for a job with a priority.)
    if (outcome.ms === 0) await job.promote().catch(() => undefined); // somebody has taken it already
    throw new (bullmq().DelayedError)();
  };

  const worker = new (bullmq().Worker)<unknown>(queueName, process, {
    connection: client,
    prefix: queuePrefix,
    concurrency,
    // Attempts are counted by our claims.
    ...patience,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  tellFaults(worker, logger);
  return { drain: drainOf(worker, running) };
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
  tellConnectionFaults(worker, logger);
}
