import type { StoreConfig } from '../config/config.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import type { RedisClient } from '../redis/redis-client.js';
import type { BlobKeeper, BlobStore } from './blob-store.js';
import { createFolderBlobStore } from './folder-blob-store.js';
import { createLazyS3BlobStore } from './lazy-s3-blob-store.js';
import { isSharedStore } from './shared-store-check.js';
import { createTieredBlobStore, redisBlobLimitBytes } from './tiered-blob-store.js';

/** What is referred to is renewed by each collection of garbage, which comes hourly, and may be late. */
const untilRenewedSeconds = 3 * 3600;

/** Seconds that a small blob is kept after it was last put or found in use: as long as its session is known after its last turn. */
export function smallBlobTtl(config: StoreConfig): number {
  return Math.max(config.resultTtlSeconds, config.sessionTtlSeconds) + untilRenewedSeconds;
}

/** The blob store of this configuration: small blobs in Redis, larger ones in the store behind it when all share that. */
export function openBlobStore(client: RedisClient, config: StoreConfig): BlobStore {
  return createTieredBlobStore({
    client,
    tenant: config.tenant,
    ttlSeconds: smallBlobTtl(config),
    large: openSharedStore(client, config),
  });
}

/** The bucket or the data folder, without Redis in front of it. */
export function openBlobKeeper(config: StoreConfig): BlobKeeper {
  return config.s3 === undefined
    ? createFolderBlobStore(config.dataDir)
    : createLazyS3BlobStore(config.s3);
}

/** Where `openBlobKeeper` keeps blobs, for people. */
export function blobPlace(config: StoreConfig): string {
  if (config.s3 === undefined) return `the data folder ${config.dataDir}`;
  return `the bucket ${config.s3.bucket} at ${config.s3.endpoint ?? 'AWS'}`;
}

/** The store behind Redis alone, for what must not expire while a turn waits; it takes nothing that the others could not read. */
export function openSharedStore(client: RedisClient, config: StoreConfig): BlobStore {
  const keeper = openBlobKeeper(config);
  return {
    async put(source, signal) {
      if (await isSharedStore(client, keeper)) return keeper.put(source, signal);
      // A store that cannot be reached says so itself.
      await keeper.id();
      throw new SkillmillError(
        'BLOB_UNAVAILABLE',
        `A file over ${redisBlobLimitBytes / 1024} KiB needs a store that clients and workers share, and ${blobPlace(config)} is not the one in use. Set SKILLMILL_DATA_DIR to the shared folder, or the same SKILLMILL_S3_BUCKET, SKILLMILL_S3_ENDPOINT and SKILLMILL_S3_PREFIX everywhere.`,
      );
    },
    open: (sha256) => keeper.open(sha256),
  };
}
