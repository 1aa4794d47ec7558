import type { S3Config } from '../config/s3-config.js';
import type { BlobKeeper, StoredBlob } from './blob-store.js';
import type { S3BlobKeeper } from './s3-blob-store.js';

/** `createS3BlobStore`, whose client is loaded with the first use: it takes as long to load as all the rest of a command. */
export function createLazyS3BlobStore(config: S3Config): S3BlobKeeper {
  let opened: Promise<S3BlobKeeper> | undefined;
  const store = () =>
    (opened ??= import('./s3-blob-store.js').then((module) => module.createS3BlobStore(config)));
  return {
    id: async () => (await store()).id(),
    owner: async () => (await store()).owner(),
    claim: async (deployment, how) => (await store()).claim(deployment, how),
    put: async (source, signal) => (await store()).put(source, signal),
    open: async (sha256) => (await store()).open(sha256),
    has: async (sha256) => (await store()).has(sha256),
    list: () => listOf(store()),
    delete: async (sha256, ifUnmodifiedSince) => (await store()).delete(sha256, ifUnmodifiedSince),
    sweepUnfinished: async (before) => (await store()).sweepUnfinished(before),
    signedUrl: async (sha256, seconds) => (await store()).signedUrl(sha256, seconds),
  };
}

async function* listOf(store: Promise<BlobKeeper>): AsyncGenerator<StoredBlob> {
  yield* (await store).list();
}
