import { z } from 'zod';
import {
  sessionIdSchema,
  turnEventBodySchema,
  type Tenant,
  type TurnEvent,
  type TurnId,
} from '../contracts/index.js';
import { turnKeys } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { parseStored } from '../session/session-store.js';

const entrySchema = z.tuple([z.string(), z.array(z.string())]);
const replySchema = z.tuple([z.tuple([z.string(), z.array(entrySchema)])]).nullable();
const fieldsSchema = z.object({
  body: z.string(),
  at: z.coerce.number(),
  sessionId: sessionIdSchema,
});

const pageSize = 500;

export interface ReadOptions {
  /** Events with a seq above this. */
  readonly after: number;
  /** How long to wait for the first one; 0 answers at once. */
  readonly waitMs: number;
}

/**
 * Reads a turn's next events, at most 500. A connection that waits can do nothing else meanwhile.
 * @throws SkillmillError REDIS_UNAVAILABLE
 */
export async function readTurnEvents(
  client: RedisClient,
  tenant: Tenant,
  turnId: TurnId,
  options: ReadOptions,
): Promise<TurnEvent[]> {
  const { events } = turnKeys(tenant, turnId);
  const from = `${options.after}-0`;
  try {
    const answer =
      options.waitMs > 0
        ? await client.xread('COUNT', pageSize, 'BLOCK', options.waitMs, 'STREAMS', events, from)
        : await client.xread('COUNT', pageSize, 'STREAMS', events, from);
    const reply = replySchema.parse(answer);
    return reply === null ? [] : reply[0][1].map((entry) => toEvent(turnId, entry));
  } catch (error) {
    throw redisError(error);
  }
}

function toEvent(turnId: TurnId, [id, flat]: z.infer<typeof entrySchema>): TurnEvent {
  const pairs = flat.flatMap((key, index) => (index % 2 === 0 ? [[key, flat[index + 1]]] : []));
  const fields = fieldsSchema.parse(Object.fromEntries(pairs));
  return {
    ...parseStored(turnEventBodySchema, fields.body),
    turnId,
    sessionId: fields.sessionId,
    seq: Number(id.split('-')[0]),
    at: new Date(fields.at).toISOString(),
  };
}
