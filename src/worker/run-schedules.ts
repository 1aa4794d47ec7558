import type { StoreConfig } from '../shared/config/config.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import type { Logger } from '../shared/logging/logger.js';
import {
  startScheduleConsumer,
  type Firing,
  type ScheduleConsumer,
} from '../shared/queue/schedule-consumer.js';
import { createScheduleQueue, type ScheduleQueue } from '../shared/queue/schedule-queue.js';
import type { TurnQueue } from '../shared/queue/turn-queue.js';
import type { RedisClient } from '../shared/redis/redis-client.js';
import { enqueueTurn } from '../shared/turns/enqueue-turn.js';
import { openLine } from '../shared/turns/open-line.js';

export interface ScheduleParts {
  readonly redis: RedisClient;
  readonly queue: TurnQueue;
  readonly store: StoreConfig;
  readonly logger: Logger;
}

/** Starts to fire schedules, of every tenant: each firing enqueues a turn, like anybody else. */
export function runSchedules(parts: ScheduleParts): ScheduleConsumer {
  const { redis, logger } = parts;
  const schedules = createScheduleQueue(redis);
  const consumer = startScheduleConsumer({
    client: redis,
    handler: (firing) => fire(parts, schedules, firing),
    logger,
  });
  return {
    async drain() {
      await consumer.drain();
      await schedules.close();
    },
  };
}

async function fire(
  { redis, queue, store, logger }: ScheduleParts,
  schedules: ScheduleQueue,
  { tenant, name, request, plannedAtMs }: Firing,
): Promise<void> {
  const fields = { tenant, schedule: name, plannedAt: new Date(plannedAtMs).toISOString() };
  // BullMQ leaves a firing that is due already when its schedule is removed.
  if (!(await schedules.has(tenant, name))) {
    logger.log('info', 'a firing came after its schedule was removed', fields);
    return;
  }
  // A firing that is handed out twice finds its turn.
  const idempotencyKey = `schedule:${name}:${plannedAtMs}`;
  const line = openLine(redis, queue, { ...store, tenant });
  try {
    const { turnId, isKnown } = await enqueueTurn(line, { ...request, idempotencyKey });
    logger.log('info', 'a schedule fired', { ...fields, turnId, isKnown });
  } catch (error) {
    if (SkillmillError.from(error).code !== 'SESSION_BUSY') throw error;
    logger.log('info', 'a firing found its session busy, and enqueued nothing', fields);
  }
}
