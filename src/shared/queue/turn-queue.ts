import type { Queue } from 'bullmq';
import { z } from 'zod';
import {
  sessionIdSchema,
  tenantSchema,
  turnIdSchema,
  type SessionId,
  type Tenant,
  type TurnId,
} from '../contracts/index.js';
import { queueName, queuePrefix } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { findIdleScript } from '../redis/scripts/find-idle.js';
import { bullmq } from './bullmq.js';

/** What a job carries: a pointer. Request, result and history are ours, so that BullMQ's retention never decides what is remembered. */
export const turnPointerSchema = z.object({
  tenant: tenantSchema,
  sessionId: sessionIdSchema,
  turnId: turnIdSchema,
});

export interface TurnPointer {
  readonly tenant: Tenant;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

/** The head of a line, as the scripts name it. */
export interface LineHead {
  readonly turnId: string;
  readonly priority: number;
}

export interface JobOptions {
  /** 0 high, 1 normal, 2 low. */
  readonly priority: number;
  readonly delayMs?: number;
}

/** The queue's producer side. Only the head of a session's line has a job, and each turn that is not due yet. */
export interface TurnQueue {
  /** Makes sure that this turn has a job; adding it again changes nothing. @throws SkillmillError REDIS_UNAVAILABLE */
  add(pointer: TurnPointer, options: JobOptions): Promise<void>;
  /** The same for the turn that a script named as the new head of its session's line. */
  addHead(tenant: Tenant, sessionId: SessionId, head: LineHead): Promise<void>;
  /** Which of these turns nobody will take now, and why: they have no job, or one that is delayed. @throws SkillmillError REDIS_UNAVAILABLE */
  idle(turnIds: readonly TurnId[]): Promise<ReadonlyMap<TurnId, 'missing' | 'delayed'>>;
  /** Ends the delay of a turn's job, if it has one. @throws SkillmillError REDIS_UNAVAILABLE */
  hurry(turnId: TurnId): Promise<void>;
  close(): Promise<void>;
}

/** BullMQ takes jobs without a priority first, then by rising number: its 1 is not the most urgent. */
const jobPriorities = [0, 1, 2];

/** The queue on a connection that the caller owns; opened when it is first needed. */
export function createTurnQueue(client: RedisClient): TurnQueue {
  let opened: Queue | undefined;
  const queue = () => (opened ??= openQueue(client));
  const add: TurnQueue['add'] = async (pointer, { priority, delayMs = 0 }) => {
    const options = {
      jobId: pointer.turnId,
      priority: jobPriorities[priority] ?? 0,
      delay: delayMs,
      removeOnComplete: true,
      removeOnFail: true,
    };
    await queue().add('turn', pointer, options).catch(rethrow);
  };
  return {
    add,
    addHead: (tenant, sessionId, { turnId, priority }) =>
      add({ tenant, sessionId, turnId: turnIdSchema.parse(turnId) }, { priority }),
    idle: async (turnIds) => {
      const keys = [queue().toKey('delayed'), ...turnIds.map((turnId) => queue().toKey(turnId))];
      return new Map(await findIdleScript.run(client, keys, turnIds));
    },
    hurry: async (turnId) => {
      const job = await queue().getJob(turnId).catch(rethrow);
      // Who finds it undelayed meanwhile has come too late, which is as well.
      await job?.promote().catch(() => undefined);
    },
    close: async () => opened?.close(),
  };
}

function openQueue(client: RedisClient): Queue {
  const queue = new (bullmq().Queue)(queueName, { connection: client, prefix: queuePrefix });
  queue.on('error', () => undefined); // each call that fails says so to its caller
  return queue;
}

function rethrow(error: unknown): never {
  throw redisError(error);
}
