import type { StoreConfig } from '../config/config.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import type { RedisClient } from '../redis/redis-client.js';
import type { BlobStore } from './blob-store.js';
import { createFolderBlobStore } from './folder-blob-store.js';
import { isSharedFolder } from './shared-folder-check.js';
import { createTieredBlobStore, redisBlobLimitBytes } from './tiered-blob-store.js';

/** The blob store of this configuration: small blobs in Redis, larger ones in the data folder when all share it. */
export function openBlobStore(client: RedisClient, config: StoreConfig): BlobStore {
  return createTieredBlobStore({
    client,
    tenant: config.tenant,
    // An artifact is known as long as its session.
    ttlSeconds: Math.max(config.resultTtlSeconds, config.sessionTtlSeconds),
    large: openFolderStore(client, config),
  });
}

/** The data folder alone, for what must not expire while a turn waits. */
export function openFolderStore(client: RedisClient, config: StoreConfig): BlobStore {
  return createSharedFolderStore(client, config.dataDir);
}

/** A folder store that refuses to take what the others could not read. */
function createSharedFolderStore(client: RedisClient, dataDir: string): BlobStore {
  const folder = createFolderBlobStore(dataDir);
  return {
    async put(source) {
      if (await isSharedFolder(client, dataDir)) return folder.put(source);
      throw new SkillmillError(
        'BLOB_UNAVAILABLE',
        `A file over ${redisBlobLimitBytes / 1024} KiB needs a data folder that clients and workers share, and ${dataDir} is not the one in use. Set SKILLMILL_DATA_DIR to the shared folder.`,
      );
    },
    open: (sha256) => folder.open(sha256),
  };
}
