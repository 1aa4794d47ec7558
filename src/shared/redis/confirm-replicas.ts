import { SkillmillError } from '../errors/skillmill-error.js';
import { redisError, type RedisClient } from './redis-client.js';

export interface Confirmation {
  /** How many replicas must have it; 0 asks none. */
  readonly replicas: number;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 1000;

/**
 * Waits until so many replicas have what this connection wrote to the node of `key`. The connection does nothing
 * else meanwhile. The write is there either way; without the replicas' word a fail-over may lose it.
 * @throws SkillmillError REDIS_UNAVAILABLE, also when too few of them have it in time
 */
export async function confirmReplicas(
  client: RedisClient,
  key: string,
  { replicas, timeoutMs = defaultTimeoutMs }: Confirmation,
): Promise<void> {
  if (replicas === 0) return;
  const confirmed = await countConfirmed(client, key, [replicas, timeoutMs]);
  if (confirmed >= replicas) return;
  throw new SkillmillError(
    'REDIS_UNAVAILABLE',
    `Only ${confirmed} of ${replicas} replicas of Redis have the write after ${timeoutMs} ms; a fail-over may lose it. Start replicas, or lower SKILLMILL_WAIT_REPLICAS.`,
  );
}

/** WAIT names no key; beside a command that does, a cluster sends it to that key's node, on the connection of the writes. */
async function countConfirmed(
  client: RedisClient,
  key: string,
  [replicas, timeoutMs]: readonly [number, number],
): Promise<number> {
  const replies = await client
    .pipeline()
    .exists(key)
    .wait(replicas, timeoutMs)
    .exec()
    .catch((error: unknown) => {
      throw redisError(error);
    });
  const [error, count] = replies?.[1] ?? [new Error('no reply to WAIT')];
  if (error !== null) throw redisError(error);
  return Number(count);
}
