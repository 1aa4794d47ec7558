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

const entrySchema = z.tuple([z.string(), z.array(z.string())]);
const replySchema = z.tuple([z.tuple([z.string(), z.array(entrySchema)])]).nullable();
const fieldsSchema = z.object({
  body: z.string(),
  at: z.coerce.number(),
  sessionId: sessionIdSchema,
});

const pageSize = 500;

/** Some of a turn's events, in order. */
export interface EventPage {
  readonly events: readonly TurnEvent[];
  /** Where the next page begins: beyond this seq. */
  readonly after: number;
}

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
): Promise<EventPage> {
  const { events } = turnKeys(tenant, turnId);
  const from = `${options.after}-0`;
  const asked =
    options.waitMs > 0
      ? client.xread('COUNT', pageSize, 'BLOCK', options.waitMs, 'STREAMS', events, from)
      : client.xread('COUNT', pageSize, 'STREAMS', events, from);
  const answer = await asked.catch((error: unknown) => {
    throw redisError(error);
  });
  const reply = replySchema.parse(answer);
  const entries = reply === null ? [] : reply[0][1];
  const [lastId] = entries.at(-1) ?? [from];
  return {
    events: entries.flatMap((entry) => toEvent(turnId, entry)),
    after: seqOf(lastId),
  };
}

/** An event; none for a type that a newer version wrote. */
function toEvent(turnId: TurnId, [id, flat]: z.infer<typeof entrySchema>): TurnEvent[] {
  const pairs = flat.flatMap((key, index) => (index % 2 === 0 ? [[key, flat[index + 1]]] : []));
  const fields = fieldsSchema.parse(Object.fromEntries(pairs));
  const body = turnEventBodySchema.safeParse(JSON.parse(fields.body));
  if (!body.success) return [];
  return [
    {
      ...body.data,
      turnId,
      sessionId: fields.sessionId,
      seq: seqOf(id),
      at: new Date(fields.at).toISOString(),
    },
  ];
}

/** A stream id is the event's seq. */
function seqOf(id: string): number {
  return Number(id.split('-')[0]);
}
