import { z } from 'zod';
import {
  sessionIdSchema,
  turnIdSchema,
  turnResultSchema,
  type Tenant,
  type TurnId,
  type TurnResult,
} from '../contracts/index.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import { turnKeys } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { parseStored } from '../redis/parse-stored.js';
import { storedRequestSchema, type StoredRequest } from './stored-request.js';

const turnFieldsSchema = z.object({
  sessionId: sessionIdSchema,
  status: z.string(),
  request: z.string(),
  acceptedAt: z.coerce.number(),
  attempts: z.coerce.number(),
  retryOf: turnIdSchema.optional(),
  result: z.string().optional(),
});

/** What Redis knows of a turn. */
export interface StoredTurn {
  readonly sessionId: z.infer<typeof sessionIdSchema>;
  readonly status: string;
  readonly request: StoredRequest;
  /** Milliseconds since 1970, by Redis' clock. */
  readonly acceptedAt: number;
  readonly attempts: number;
  /** The ended turn that this one tries again. */
  readonly retryOf: TurnId | undefined;
  readonly result: TurnResult | undefined;
}

/** Reads a turn. @throws SkillmillError TURN_NOT_FOUND, REDIS_UNAVAILABLE */
export async function readTurn(
  client: RedisClient,
  tenant: Tenant,
  turnId: TurnId,
): Promise<StoredTurn> {
  const fields = await client.hgetall(turnKeys(tenant, turnId).turn).catch((error: unknown) => {
    throw redisError(error);
  });
  if (Object.keys(fields).length === 0) throw turnNotFound(turnId);
  const turn = turnFieldsSchema.parse(fields);
  return {
    sessionId: turn.sessionId,
    status: turn.status,
    acceptedAt: turn.acceptedAt,
    attempts: turn.attempts,
    retryOf: turn.retryOf,
    request: parseStored(storedRequestSchema, turn.request),
    result: turn.result === undefined ? undefined : parseStored(turnResultSchema, turn.result),
  };
}

/** What is said of a turn that Redis does not know. */
export function turnNotFound(turnId: TurnId): SkillmillError {
  return new SkillmillError(
    'TURN_NOT_FOUND',
    `No turn ${turnId} is known to this Redis and tenant; it was never enqueued here, or its result has expired.`,
  );
}
