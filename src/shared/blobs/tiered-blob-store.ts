import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Tenant } from '../contracts/index.js';
import { blobKey } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import type { BlobSource, BlobStore } from './blob-store.js';
import { verified } from './folder-blob-store.js';

/** Up to this many bytes a blob travels in Redis, where every client and worker finds it without a common folder. */
export const redisBlobLimitBytes = 256 * 1024;

export interface TieredBlobOptions {
  readonly client: RedisClient;
  readonly tenant: Tenant;
  readonly ttlSeconds: number;
  /** Where larger blobs go. */
  readonly large: BlobStore;
}

/** Small blobs in Redis, with the results' expiry; larger ones in the store behind it. */
export function createTieredBlobStore(options: TieredBlobOptions): BlobStore {
  const { client, tenant, ttlSeconds, large } = options;
  return {
    async put(source) {
      const { head, rest } = await readHead(source);
      if (rest !== undefined) return large.put(joined(head, rest));
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

interface Head {
  readonly head: Buffer;
  /** What follows, when there is more than the limit. */
  readonly rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | undefined;
}

async function readHead(source: BlobSource): Promise<Head> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= redisBlobLimitBytes) {
    const next = await iterator.next();
    if (next.done === true) return { head: Buffer.concat(chunks), rest: undefined };
    chunks.push(next.value);
    size += next.value.byteLength;
  }
  return { head: Buffer.concat(chunks), rest: iterator };
}

async function* joined(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) return;
    yield next.value;
  }
}

function rethrow(error: unknown): never {
  throw redisError(error);
}
