import { Queue } from 'bullmq';
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

/** The queue's producer side. Only the head of a session's line has a job. */
export interface TurnQueue {
  /** Makes sure that this turn has a job; adding it again changes nothing. @throws SkillmillError REDIS_UNAVAILABLE */
  add(pointer: TurnPointer): Promise<void>;
  /** The same for the turn that a script named as the new head of its session's line. */
  addHead(tenant: Tenant, sessionId: SessionId, head: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the queue on a connection that the caller owns. */
export function createTurnQueue(client: RedisClient): TurnQueue {
  const queue = new Queue(queueName, { connection: client, prefix: queuePrefix });
  queue.on('error', () => undefined); // each call that fails says so to its caller
  const add = async (pointer: TurnPointer) => {
    const options = { jobId: pointer.turnId, removeOnComplete: true, removeOnFail: true };
    await queue.add('turn', pointer, options).catch((error: unknown) => {
      throw redisError(error);
    });
  };
  return {
    add,
    addHead: (tenant, sessionId, head) =>
      add({ tenant, sessionId, turnId: turnIdSchema.parse(head) }),
    close: () => queue.close(),
  };
}
