import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { z } from 'zod';
import { tenantSchema, type Tenant, type TurnRequest } from '../contracts/index.js';
import { queuePrefix, scheduleQueueName } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { bullmq } from './bullmq.js';

/** A turn that repeats by cron. */
export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly turn: TurnRequest;
}

/** What BullMQ keeps of it; the request is as another version may have written it. */
export interface StoredSchedule extends Omit<Schedule, 'turn'> {
  readonly turn: unknown;
  /** The next firing's planned time; long past when no worker runs. */
  readonly nextAtMs: number;
}

/** What the job of a firing carries. */
export const firingDataSchema = z.object({
  tenant: tenantSchema,
  name: z.string(),
  request: z.record(z.string(), z.unknown()),
});

/** The schedules, one job scheduler each; each method @throws SkillmillError REDIS_UNAVAILABLE */
export interface ScheduleQueue {
  /** Adds a schedule, or replaces the tenant's one of this name. */
  put(
    tenant: Tenant,
    schedule: Schedule,
  ): Promise<{ readonly nextAtMs: number; readonly isReplaced: boolean }>;
  /** The tenant's own, by name. */
  list(tenant: Tenant): Promise<StoredSchedule[]>;
  /** Has the tenant one of this name? */
  has(tenant: Tenant, name: string): Promise<boolean>;
  /** Ends a schedule; false when there was none. */
  remove(tenant: Tenant, name: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A firing that cannot be enqueued is tried for half a minute: after 1, 3, 7, 15 and 31 s. */
const firingOptions = {
  attempts: 6,
  backoff: { type: 'exponential', delay: 1000 },
  removeOnComplete: true,
  removeOnFail: true,
};
const collisionTries = 16;
const collisionPauseMs = 250;

/** A firing's planned time stands at the end of its job's id, which BullMQ makes: `repeat:<scheduler>:<ms>`. */
export function plannedAtOf(jobId: string | undefined): number {
  return z.coerce
    .number()
    .int()
    .positive()
    .parse(/:(\d+)$/.exec(jobId ?? '')?.[1]);
}

/** Opens the queue on a connection that the caller owns. */
export function createScheduleQueue(client: RedisClient): ScheduleQueue {
  const queue = new (bullmq().Queue)(scheduleQueueName, {
    connection: client,
    prefix: queuePrefix,
  });
  queue.on('error', () => undefined); // each call that fails says so to its caller
  const has: ScheduleQueue['has'] = async (tenant, name) =>
    (await queue.getJobScheduler(idOf(tenant, name))) !== undefined;
  return {
    async put(tenant, schedule) {
      try {
        const isReplaced = await has(tenant, schedule.name);
        const nextAtMs = await upsert(queue, tenant, schedule);
        return { nextAtMs, isReplaced };
      } catch (error) {
        throw redisError(error);
      }
    },
    async list(tenant) {
      const all = await queue.getJobSchedulers(0, -1, true).catch(rethrow);
      const own = all.filter(({ key }) => key.startsWith(`${tenant}/`));
      return own
        .map(({ key, pattern = '', tz = '', next = 0, template }) => ({
          name: key.slice(tenant.length + 1),
          cron: pattern,
          timeZone: tz,
          turn: firingDataSchema.parse(template?.data).request,
          nextAtMs: next,
        }))
        .sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    has: (tenant, name) => has(tenant, name).catch(rethrow),
    remove: (tenant, name) => queue.removeJobScheduler(idOf(tenant, name)).catch(rethrow),
    close: () => queue.close(),
  };
}

/** Neither half holds a slash, and no id a colon, which BullMQ divides its own by. */
function idOf(tenant: Tenant, name: string): string {
  return `${tenant}/${name}`;
}

async function upsert(queue: Queue, tenant: Tenant, schedule: Schedule): Promise<number> {
  const { name, cron: pattern, timeZone: tz, turn: request } = schedule;
  const template = { name: 'firing', data: { tenant, name, request }, opts: firingOptions };
  for (let tries = 1; ; tries += 1) {
    try {
      const job = await queue.upsertJobScheduler(idOf(tenant, name), { pattern, tz }, template);
      return plannedAtOf(job.id);
    } catch (error) {
      // A worker whose clock is ahead of ours fires already what would be the new schedule's first: there is a later one.
      if (!isCollision(error) || tries === collisionTries) throw error;
      await sleep(collisionPauseMs);
    }
  }
}

function isCollision(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === bullmq().ErrorCode.SchedulerJobIdCollision
  );
}

function rethrow(error: unknown): never {
  throw redisError(error);
}
