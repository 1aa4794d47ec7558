import type { RedisClient } from '../../shared/redis/redis-client.js';
import { noteBlobScript } from '../../shared/redis/scripts/note-blob.js';
import type { BlobStore } from '../../shared/blobs/blob-store.js';

/** Longer than any attempt of a turn may take. */
const noteTtlSeconds = 2 * 86_400;

/** A running turn's blobs. */
export interface NotedBlobStore extends BlobStore {
  /** Keeps a blob for the turn that was put a while ago. @throws SkillmillError REDIS_UNAVAILABLE */
  note(sha256: string): Promise<void>;
}

/**
 * A running turn's blobs: each is noted once it is stored, so that it is kept until the commit says what refers to it.
 * Between the two the collector's grace keeps it.
 */
export function createNotedBlobStore(
  store: BlobStore,
  client: RedisClient,
  noteKey: string,
): NotedBlobStore {
  const note = async (sha256: string) => {
    await noteBlobScript.run(client, [noteKey], [sha256, noteTtlSeconds]);
  };
  return {
    async put(source, signal) {
      const info = await store.put(source, signal);
      await note(info.sha256);
      return info;
    },
    open: (sha256) => store.open(sha256),
    note,
  };
}
