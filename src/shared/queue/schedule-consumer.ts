import type { Job } from 'bullmq';
import type { Tenant } from '../contracts/index.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import type { Logger } from '../logging/logger.js';
import { queuePrefix, scheduleQueueName } from '../redis/keys.js';
import type { RedisClient } from '../redis/redis-client.js';
import { bullmq } from './bullmq.js';
import { drainOf, patience, tellConnectionFaults } from './consumer-life.js';
import { firingDataSchema, plannedAtOf } from './schedule-queue.js';

/** One time at which a schedule fires. It may be handed out twice, with the same planned time. */
export interface Firing {
  readonly tenant: Tenant;
  readonly name: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly plannedAtMs: number;
}

/** The worker side of the schedules. */
export interface ScheduleConsumer {
  /** Takes no new firings and waits for the one that is handled. */
  drain(): Promise<void>;
}

export interface ScheduleConsumerOptions {
  readonly client: RedisClient;
  /** What a firing does; one that fails is tried again if its error says that it may pass. */
  readonly handler: (firing: Firing) => Promise<void>;
  readonly logger: Logger;
}

/** Starts taking firings, one at a time. */
export function startScheduleConsumer(options: ScheduleConsumerOptions): ScheduleConsumer {
  const { client, handler, logger } = options;
  const { UnrecoverableError, Worker } = bullmq();
  const running = new Set<Promise<void>>();
  const process = async (job: Job<unknown>) => {
    const handled = handler(firingOf(job)).catch((error: unknown) => {
      const { retryable, message } = SkillmillError.from(error);
      throw retryable ? error : new UnrecoverableError(message);
    });
    running.add(handled);
    await handled.finally(() => running.delete(handled));
  };
  const worker = new Worker<unknown>(scheduleQueueName, process, {
    connection: client,
    prefix: queuePrefix,
    concurrency: 1,
    ...patience,
  });
  worker.on('failed', (job, error) => {
    const willRetry = job !== undefined && job.finishedOn === undefined;
    logger.log('warn', willRetry ? 'a schedule could not enqueue yet' : 'a firing is lost', {
      firing: job?.id,
      reason: error.message,
    });
  });
  tellConnectionFaults(worker, logger);
  return { drain: drainOf(worker, running) };
}

function firingOf(job: Job<unknown>): Firing {
  return { ...firingDataSchema.parse(job.data), plannedAtMs: plannedAtOf(job.id) };
}
