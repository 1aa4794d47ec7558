import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolderBlobStore } from '../../src/shared/blobs/folder-blob-store.js';
import { createTieredBlobStore } from '../../src/shared/blobs/tiered-blob-store.js';
import { collectGarbage, type CollectOptions } from '../../src/shared/garbage/collect-garbage.js';
import { blobKey } from '../../src/shared/redis/keys.js';
import type { RedisClient } from '../../src/shared/redis/redis-client.js';
import { tempDir } from '../support/temp-dir.js';
import { tenant } from './session-line.js';

export const ttl = 10_000;

/** A claimed data folder and small blobs beside it, whose age a test sets. */
export async function openGarbageDesk(client: RedisClient) {
  const dir = await tempDir();
  const keeper = createFolderBlobStore(dir);
  await keeper.claim('ours', 'first');
  const small = createTieredBlobStore({ client, tenant, ttlSeconds: ttl, large: keeper });
  const age = async (sha256: string, seconds: number) => {
    const then = Date.now() / 1000 - seconds;
    await utimes(join(dir, 'blobs', sha256.slice(0, 2), sha256), then, then);
  };
  const ageSmall = (sha256: string, seconds: number) =>
    client.expire(blobKey(tenant, sha256), ttl - seconds);
  return {
    keeper,
    small,
    age,
    ageSmall,
    /** Stores a text in the folder and in Redis, as of two hours ago: past the grace. */
    async old(text: string): Promise<string> {
      const { sha256 } = await keeper.put([Buffer.from(text)]);
      await small.put([Buffer.from(text)]);
      await age(sha256, 7200);
      await ageSmall(sha256, 7200);
      return sha256;
    },
    async isThere(sha256: string): Promise<[store: boolean, redis: boolean]> {
      const inRedis = await client.exists(blobKey(tenant, sha256));
      return [await keeper.has(sha256), inRedis === 1];
    },
    collect: (more: Partial<CollectOptions> = {}) =>
      collectGarbage({
        ...{ client, keeper, place: 'the folder', deployment: 'ours' },
        ...{ graceSeconds: 3600, smallTtlSeconds: ttl },
        ...more,
      }),
  };
}

export const artifactOf = (sha256: string) => ({
  ...{ name: 'out/a', version: 0, mimeType: 'text/plain', sizeBytes: 3, sha256 },
  ref: 'artifact://out/a@0',
});

export const workspaceOf = (manifest: string, blobs: readonly string[]) => ({
  ...{ version: 1, manifest, blobs, files: 1, sizeBytes: 1, savedAt: 1 },
});
