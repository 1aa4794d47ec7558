import { smallBlobPattern, shaOfBlobKey } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { scanKeys } from '../redis/scan-keys.js';
import { dropBlobScript } from '../redis/scripts/drop-blob.js';
import { count, emptyCount, type GarbageCount } from './garbage-count.js';

/** A small blob as it was when it was looked at. */
interface SmallBlob {
  readonly key: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Milliseconds until it expires; a put renews it. */
  readonly leftMs: number;
}

const atATime = 200;

/** The small blobs in Redis, of all tenants. @throws SkillmillError REDIS_UNAVAILABLE */
export async function listSmallBlobs(client: RedisClient): Promise<SmallBlob[]> {
  const blobs = new Map<string, SmallBlob>();
  for await (const keys of scanKeys(client, smallBlobPattern)) {
    const looks = keys.flatMap((key) => {
      const sha256 = shaOfBlobKey(key);
      return sha256 === undefined ? [] : [look(client, key, sha256)];
    });
    for (const blob of await Promise.all(looks)) if (blob.leftMs >= 0) blobs.set(blob.key, blob);
  }
  return [...blobs.values()];
}

async function look(client: RedisClient, key: string, sha256: string): Promise<SmallBlob> {
  const looked = Promise.all([client.pttl(key), client.strlen(key)]);
  const [leftMs, sizeBytes] = await looked.catch(rethrow);
  return { key, sha256, sizeBytes, leftMs };
}

export interface SmallBlobOptions {
  readonly client: RedisClient;
  readonly graceSeconds: number;
  readonly smallTtlSeconds: number;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** Removes the small blobs that are garbage, and lets those that are referred to live for their whole time again. */
export async function collectSmallBlobs(
  options: SmallBlobOptions,
  blobs: readonly SmallBlob[],
  references: ReadonlySet<string>,
): Promise<GarbageCount> {
  const counts = emptyCount();
  for (let at = 0; at < blobs.length; at += atATime) {
    options.signal?.throwIfAborted();
    const some = blobs.slice(at, at + atATime);
    const gone = await Promise.all(
      some.map((blob) =>
        references.has(blob.sha256) ? keep(options, blob) : dropOld(options, blob),
      ),
    );
    for (const [index, { sizeBytes }] of some.entries()) {
      count(counts.seen, sizeBytes);
      count(gone[index] === true ? counts.removed : counts.kept, sizeBytes);
    }
  }
  return counts;
}

async function keep(options: SmallBlobOptions, { key }: SmallBlob): Promise<false> {
  const { client, smallTtlSeconds, dryRun = false } = options;
  // Never shorter: a worker may be set to keep it longer than we are.
  if (!dryRun) await client.expire(key, smallTtlSeconds, 'GT').catch(rethrow);
  return false;
}

async function dropOld(options: SmallBlobOptions, { key, leftMs }: SmallBlob): Promise<boolean> {
  const { client, graceSeconds, smallTtlSeconds, dryRun = false } = options;
  const ageMs = smallTtlSeconds * 1000 - leftMs;
  if (ageMs < graceSeconds * 1000) return false;
  return dryRun || (await dropBlobScript.run(client, [key], [leftMs])) === 1;
}

function rethrow(error: unknown): never {
  throw redisError(error);
}
