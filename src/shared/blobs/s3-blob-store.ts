import { createHash, randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { S3Config } from '../config/s3-config.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import { checkedSha256, hashed, readHead, verified } from './blob-bytes.js';
import type { BlobInfo, BlobKeeper, BlobSource, StoredBlob } from './blob-store.js';
import { openS3Bucket, partBytes, type S3Bucket } from './s3-bucket.js';

/** A keeper that can sign URLs. */
export type S3BlobKeeper = BlobKeeper & Required<Pick<BlobKeeper, 'signedUrl'>>;

/** What S3 copies in one call. */
const copyLimitBytes = 5 * 1024 ** 3;

interface Places {
  readonly bucket: S3Bucket;
  readonly blobs: string;
  readonly incoming: string;
  readonly keyOf: (sha256: string) => string;
}

/**
 * A blob store in a bucket. What fits in one part is hashed first and put under its name. Of the rest the name is
 * known only when the last byte has passed, and no worker has room for it: it is streamed to a temporary key, and
 * copied to its name within the server.
 */
export function createS3BlobStore(config: S3Config): S3BlobKeeper {
  const blobs = `${config.prefix}sha256/`;
  const places: Places = {
    bucket: openS3Bucket(config),
    blobs,
    incoming: `${config.prefix}incoming/`,
    keyOf: (sha256) => `${blobs}${checkedSha256(sha256).slice(0, 2)}/${sha256.slice(2)}`,
  };
  const { bucket, incoming, keyOf } = places;
  const ownerKey = `${config.prefix}deployment`;
  return {
    id: () => storeId(bucket, `${config.prefix}store-id`),
    async owner() {
      const there = await bucket.get(ownerKey);
      return there && text(there);
    },
    async claim(deployment, how) {
      if (how === 'over') await bucket.remove(ownerKey);
      if (how === 'over' || !(await bucket.head(ownerKey))) {
        await putText(bucket, ownerKey, deployment);
      }
    },
    async put(source, signal) {
      signal?.throwIfAborted();
      const { head, whole } = await readHead(source, partBytes).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw sourceError(error);
      });
      signal?.throwIfAborted();
      return whole === undefined ? putSmall(places, head) : putLarge(places, whole, signal);
    },
    async open(sha256) {
      const bytes = await bucket.get(keyOf(sha256));
      if (bytes !== undefined) return verified(bytes, sha256);
      throw new SkillmillError(
        'BLOB_NOT_FOUND',
        `The bucket ${config.bucket} does not hold ${sha256}. Clients and workers must use the same bucket and prefix for files over 256 KiB.`,
      );
    },
    has: async (sha256) => (await bucket.head(keyOf(sha256))) !== undefined,
    list: () => listBlobs(places),
    // Not one step: S3 has no condition on an object's age. Who deletes leaves what is not old alone.
    async delete(sha256, ifUnmodifiedSince) {
      const object = await bucket.head(keyOf(sha256));
      if (object === undefined || object.modifiedAt > ifUnmodifiedSince) return false;
      await bucket.remove(keyOf(sha256));
      return true;
    },
    async sweepUnfinished(before) {
      let swept = await bucket.abortUploads(incoming, before);
      for await (const { key, modifiedAt } of bucket.list(incoming)) {
        if (modifiedAt >= before) continue;
        await bucket.remove(key);
        swept += 1;
      }
      return swept;
    },
    signedUrl: (sha256, seconds) => bucket.signedUrl(keyOf(sha256), seconds),
  };
}

async function putSmall({ bucket, keyOf }: Places, bytes: Buffer): Promise<BlobInfo> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = keyOf(sha256);
  const isThere = (await bucket.head(key)) !== undefined && (await bucket.renew(key));
  if (!isThere) await bucket.putNew(key, bytes, sha256);
  return { sha256, sizeBytes: bytes.byteLength };
}

async function putLarge(
  { bucket, keyOf, incoming }: Places,
  source: BlobSource,
  signal: AbortSignal | undefined,
): Promise<BlobInfo> {
  const temporary = `${incoming}${randomUUID()}`;
  const { bytes, info } = hashed(limited(source), signal);
  let fault: unknown;
  const watched = async function* () {
    try {
      yield* bytes;
    } catch (error) {
      fault = error;
      throw error;
    }
  };
  try {
    await bucket.upload(temporary, watched(), signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw fault === undefined ? error : sourceError(fault);
  }
  const key = keyOf(info().sha256);
  try {
    const isThere = (await bucket.head(key)) !== undefined && (await bucket.renew(key));
    if (!isThere) await bucket.copyNew(temporary, key);
  } finally {
    // What cannot be removed now is swept later.
    await bucket.remove(temporary).catch(() => undefined);
  }
  return info();
}

async function* limited(source: BlobSource): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > copyLimitBytes) {
      const sentence = 'A file over 5 GiB cannot be kept in S3. Split it into smaller ones.';
      throw new SkillmillError('LIMIT_EXCEEDED', sentence);
    }
    yield chunk;
  }
}

async function* listBlobs({ bucket, blobs }: Places): AsyncGenerator<StoredBlob> {
  for await (const { key, sizeBytes, modifiedAt } of bucket.list(blobs)) {
    const sha256 = key.slice(blobs.length).replace('/', '');
    if (/^[0-9a-f]{64}$/.test(sha256)) yield { sha256, sizeBytes, modifiedAt };
  }
}

/** The id that lies in the store; made by the first comer. */
async function storeId(bucket: S3Bucket, key: string): Promise<string> {
  const there = await bucket.get(key);
  if (there !== undefined) return text(there);
  const made = randomUUID();
  await putText(bucket, key, made);
  const stored = await bucket.get(key);
  return stored === undefined ? made : text(stored);
}

async function putText(bucket: S3Bucket, key: string, said: string): Promise<void> {
  const bytes = Buffer.from(said);
  await bucket.putNew(key, bytes, createHash('sha256').update(bytes).digest('hex'));
}

/** A source that fails is no fault of the store, but the blob is not to be had all the same. */
function sourceError(cause: unknown): SkillmillError {
  if (cause instanceof SkillmillError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const sentence = `A file could not be read to its end (${message}), so nothing of it is kept. Send it again.`;
  return new SkillmillError('BLOB_UNAVAILABLE', sentence, { cause });
}
