import type { RedisClient } from '../../shared/redis/redis-client.js';
import { noteBlobScript } from '../../shared/redis/scripts/note-blob.js';
import type { BlobStore } from '../../shared/blobs/blob-store.js';

/** Longer than any attempt of a turn may take. */
const noteTtlSeconds = 2 * 86_400;

/**
 * A running turn's blobs: each is noted once it is stored, so that it is kept until the commit says what refers to it.
 * Between the two the collector's grace keeps it.
 */
export function createNotedBlobStore(
  store: BlobStore,
  client: RedisClient,
  noteKey: string,
): BlobStore {
  return {
    async put(source, signal) {
      const info = await store.put(source, signal);
      await noteBlobScript.run(client, [noteKey], [info.sha256, noteTtlSeconds]);
      return info;
    },
    open: (sha256) => store.open(sha256),
  };
}
