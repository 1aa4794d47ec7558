import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';

/** A connection to one Redis or to a Redis Cluster; the commands are the same. */
export type RedisClient = Redis | Cluster;

/**
 * What a connection is for: `client` fails fast (somebody waits for the answer), `worker` waits until Redis is
 * back, `blocking` is one that `XREAD BLOCK` may occupy.
 */
export type RedisRole = 'client' | 'worker' | 'blocking';

const connectTimeoutMs = 3000;
const reachableWithinMs = 4000;

/** Opens a connection, in the background. Close it with `closeRedis`. */
export function connectRedis(urls: readonly string[], role: RedisRole): RedisClient {
  const [first, ...rest] = urls;
  if (first === undefined) throw new SkillmillError('CONFIG_INVALID', 'REDIS_URL names no Redis.');
  const options = connectionOptions(role);
  const client =
    rest.length === 0
      ? new Redis(first, options)
      : new Cluster([...urls], {
          redisOptions: options,
          clusterRetryStrategy: options.retryStrategy ?? (() => null),
          slotsRefreshTimeout: connectTimeoutMs,
        });
  // Without a listener ioredis prints to the console; each command that fails says so to its caller anyway.
  client.on('error', () => undefined);
  return client;
}

function connectionOptions(role: RedisRole): RedisOptions {
  const patient = role === 'worker';
  return {
    connectTimeout: connectTimeoutMs,
    // BullMQ asks for null on the worker's side: a command waits for the connection instead of failing.
    maxRetriesPerRequest: patient ? null : 1,
    retryStrategy: (times) => Math.min(times * 100, 2000),
    enableReadyCheck: true,
  };
}

/** Waits until Redis answers. @throws SkillmillError REDIS_UNAVAILABLE within 5 s, with what to do */
export async function requireRedis(client: RedisClient, urls: readonly string[]): Promise<void> {
  let lastError: unknown;
  const remember = (error: unknown) => (lastError = error);
  client.on('error', remember);
  const timer = new Promise<never>((_, reject) => {
    setTimeout(() => reject(redisUnavailable(urls, lastError)), reachableWithinMs).unref();
  });
  try {
    await Promise.race([client.ping(), timer]);
  } catch (error) {
    throw error instanceof SkillmillError ? error : redisUnavailable(urls, lastError ?? error);
  } finally {
    client.off('error', remember);
  }
}

function redisUnavailable(urls: readonly string[], cause: unknown): SkillmillError {
  const where = urls.map(withoutCredentials).join(', ');
  const why = cause === undefined ? 'no answer' : errorMessage(cause);
  return new SkillmillError(
    'REDIS_UNAVAILABLE',
    `Redis at ${where} could not be reached (${why}). Start it, or set REDIS_URL.`,
    { cause },
  );
}

/** A failed Redis command as one of our errors: what is ours stays as it is. */
export function redisError(thrown: unknown): SkillmillError {
  if (thrown instanceof SkillmillError) return thrown;
  return new SkillmillError(
    'REDIS_UNAVAILABLE',
    `Redis refused or lost a command (${errorMessage(thrown)}). Check that it is up and has memory left.`,
    { cause: thrown },
  );
}

/** Closes a connection at once; commands in flight fail. */
export function closeRedis(client: RedisClient): void {
  client.disconnect();
}

/** Protocol, host and port only: a password may hold any character. */
function withoutCredentials(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed === undefined ? 'an address that is no URL' : `${parsed.protocol}//${parsed.host}`;
}
