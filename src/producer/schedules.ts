import { turnRequestSchema, type Tenant, type TurnRequest } from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import {
  createScheduleQueue,
  type ScheduleQueue,
  type StoredSchedule,
} from '../shared/queue/schedule-queue.js';
import type { RedisClient } from '../shared/redis/redis-client.js';
import { parseSchedule, parseScheduleName, type ScheduleInput } from './parse-schedule.js';

/** A turn that repeats. */
export interface ScheduleView {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  /** The planned time of the next firing, ISO; past while no worker has come to it. */
  readonly nextAt: string;
  readonly turn: TurnRequest;
}

/** A schedule that was just added. */
export interface AddedSchedule extends ScheduleView {
  /** There was one of this name, which is gone. */
  readonly isReplaced: boolean;
}

/** The tenant's turns that repeat by cron; each method @throws SkillmillError REDIS_UNAVAILABLE */
export interface Schedules {
  /** Has a turn enqueued at each time of the cron; replaces the schedule of this name. @throws SkillmillError INPUT_INVALID */
  add(schedule: ScheduleInput): Promise<AddedSchedule>;
  /** All of them, by name. */
  list(): Promise<readonly ScheduleView[]>;
  /** Ends one; false when there was none. Turns that it has enqueued stay. @throws SkillmillError INPUT_INVALID */
  remove(name: string): Promise<boolean>;
}

export interface ScheduleContext {
  readonly client: RedisClient;
  readonly ready: () => Promise<void>;
  readonly tenant: Tenant;
}

/** The tenant's schedules; their queue is opened when first asked for. */
export function openSchedules({
  client,
  ready,
  tenant,
}: ScheduleContext): Schedules & { close(): Promise<void> } {
  let opened: ScheduleQueue | undefined;
  const queue = async () => {
    await ready();
    return (opened ??= createScheduleQueue(client));
  };
  return {
    async add(input) {
      const schedule = parseSchedule(input);
      const { nextAtMs, isReplaced } = await (await queue()).put(tenant, schedule);
      return { ...viewOf({ ...schedule, nextAtMs }), isReplaced };
    },
    list: async () => (await (await queue()).list(tenant)).map(viewOf),
    async remove(text) {
      const name = parseScheduleName(text);
      return (await queue()).remove(tenant, name);
    },
    close: async () => opened?.close(),
  };
}

function viewOf({ name, cron, timeZone, nextAtMs, turn }: StoredSchedule): ScheduleView {
  const nextAt = new Date(nextAtMs).toISOString();
  const request = turnRequestSchema.safeParse(turn);
  if (request.success) return { name, cron, timeZone, nextAt, turn: request.data };
  throw new SkillmillError(
    'INTERNAL',
    `The schedule ${name} holds a turn of an unknown form, as another version may have written it. Remove it and add it again.`,
    { cause: request.error },
  );
}
