import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Tenant } from '../contracts/index.js';
import { blobKey } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { readHead, verified } from './blob-bytes.js';
import type { BlobStore } from './blob-store.js';

/** Up to this many bytes a blob travels in Redis, where every client and worker finds it without a common store. */
export const redisBlobLimitBytes = 256 * 1024;

export interface TieredBlobOptions {
  readonly client: RedisClient;
  readonly tenant: Tenant;
  readonly ttlSeconds: number;
  /** Where larger blobs go. */
  readonly large: BlobStore;
}

/** Small blobs in Redis, each kept for `ttlSeconds` after it was last put; larger ones in the store behind it. */
export function createTieredBlobStore(options: TieredBlobOptions): BlobStore {
  const { client, tenant, ttlSeconds, large } = options;
  return {
    async put(source, signal) {
      const { head, whole } = await readHead(source, redisBlobLimitBytes);
      signal?.throwIfAborted();
      if (whole !== undefined) return large.put(whole, signal);
      const sha256 = createHash('sha256').update(head).digest('hex');
      await client.set(blobKey(tenant, sha256), head, 'EX', ttlSeconds).catch(rethrow);
      return { sha256, sizeBytes: head.byteLength };
    },
    async open(sha256) {
      const bytes = await client.getBuffer(blobKey(tenant, sha256)).catch(rethrow);
      return bytes === null ? large.open(sha256) : verified(Readable.from([bytes]), sha256);
    },
  };
}

function rethrow(error: unknown): never {
  throw redisError(error);
}
