// Required, not imported: for an import Node reads all of its files once more, only to learn their names (0.06 s of CPU time).
import ioredis = require('ioredis');
import { SkillmillError } from '../errors/skillmill-error.js';
import {
  answerWithinMs,
  connectionOptions,
  connectTimeoutMs,
  type RedisRole,
} from './connection-options.js';
import { gatherWrites } from './gather-writes.js';
import { adviceOn, shortReason } from './refusals.js';
import { watchConnection } from './watch-connection.js';

/** A connection to one Redis or to a Redis Cluster; the commands are the same. */
export type RedisClient = ioredis.Redis | ioredis.Cluster;
/** One server. */
export type RedisNode = ioredis.Redis;

/** A worker's connection may be silent for this long; its lease outlives that. */
const silentSeconds = 4;
/** BullMQ waits for a job for 10 s at most on a connection of its own. */
const silentSecondsWhenBlocked = 12;

/** Connections that BullMQ made of ours: it leaves them open when Redis is away as it closes. */
const twins = new WeakMap<RedisClient, RedisClient[]>();

/** Opens a connection, in the background. Close it with `closeRedis`. */
export function connectRedis(urls: readonly string[], role: RedisRole): RedisClient {
  const [first, ...rest] = urls;
  if (first === undefined) throw new SkillmillError('CONFIG_INVALID', 'REDIS_URL names no Redis.');
  const onRefusal = (error: Error) => void client.emit('error', error);
  const options = connectionOptions(role, onRefusal);
  const client: RedisClient =
    rest.length === 0
      ? new ioredis.Redis(first, options)
      : new ioredis.Cluster([...urls], {
          redisOptions: options,
          clusterRetryStrategy: (times) => Math.min(times * 100, 2000),
          slotsRefreshTimeout: connectTimeoutMs,
        });
  // Without a listener ioredis prints to the console; each command that fails says so to its caller anyway.
  client.on('error', () => undefined);
  if (role === 'worker') watchWithTwins(client);
  return client;
}

/** Watches a worker's connection, and those that BullMQ makes of it. */
function watchWithTwins(client: RedisClient): void {
  watch(client, silentSeconds);
  const made: RedisClient[] = [];
  twins.set(client, made);
  const keep = <Twin extends RedisClient>(twin: Twin): Twin => {
    made.push(twin);
    watch(twin, silentSecondsWhenBlocked);
    return twin;
  };
  if (isCluster(client)) {
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (nodes, options) => keep(duplicate(nodes, options));
  } else {
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (options) => keep(duplicate(options));
  }
}

function watch(client: RedisClient, seconds: number): void {
  const tend = (connection: RedisNode) => {
    watchConnection(connection, seconds);
    gatherWrites(connection);
  };
  if (isCluster(client)) client.on('+node', tend);
  else tend(client);
}

/** Is this a connection to a whole cluster? */
export function isCluster(client: RedisClient): client is ioredis.Cluster {
  return client instanceof ioredis.Cluster;
}

/** The servers that take writes, one by one, for what has to be asked of each. */
export function mastersOf(client: RedisClient): RedisNode[] {
  return isCluster(client) ? client.nodes('master') : [client];
}

/** Waits until Redis answers. @throws SkillmillError REDIS_UNAVAILABLE within 5 s, with what to do */
export async function requireRedis(client: RedisClient, urls: readonly string[]): Promise<void> {
  await requireAnswer(client, urls, client.ping());
}

/** What a first command comes to, also on a connection that would wait for ever. @throws as `requireRedis` */
export async function requireAnswer<T>(
  client: RedisClient,
  urls: readonly string[],
  command: Promise<T>,
): Promise<T> {
  let lastError: unknown;
  const remember = (error: unknown) => (lastError = error);
  client.on('error', remember);
  const timer = new Promise<never>((_, reject) => {
    setTimeout(() => reject(redisUnavailable(urls, lastError)), answerWithinMs).unref();
  });
  try {
    return await Promise.race([command, timer]);
  } catch (error) {
    throw error instanceof SkillmillError ? error : redisUnavailable(urls, lastError ?? error);
  } finally {
    client.off('error', remember);
  }
}

function redisUnavailable(urls: readonly string[], cause: unknown): SkillmillError {
  const where = urls.map(withoutCredentials).join(', ');
  const advice = adviceOn(cause);
  const why = cause === undefined ? 'no answer' : shortReason(cause);
  const message =
    advice === undefined
      ? `Redis at ${where} could not be reached (${why}). Start it, or set REDIS_URL.`
      : `Redis at ${where} takes no commands (${why}). ${advice}`;
  return new SkillmillError('REDIS_UNAVAILABLE', message, { cause });
}

/** A failed Redis command as one of our errors: what is ours stays as it is. */
export function redisError(thrown: unknown): SkillmillError {
  if (thrown instanceof SkillmillError) return thrown;
  const advice = adviceOn(thrown) ?? 'Check that it is up and can be reached.';
  return new SkillmillError(
    'REDIS_UNAVAILABLE',
    `Redis refused or lost a command (${shortReason(thrown)}). ${advice}`,
    { cause: thrown },
  );
}

/** Closes a connection at once; commands in flight fail. */
export function closeRedis(client: RedisClient): void {
  for (const connection of [client, ...(twins.get(client) ?? [])]) connection.disconnect();
}

/** Protocol, host and port only: a password may hold any character. */
function withoutCredentials(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed === undefined ? 'an address that is no URL' : `${parsed.protocol}//${parsed.host}`;
}
