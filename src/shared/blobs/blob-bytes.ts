import { createHash } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SkillmillError } from '../errors/skillmill-error.js';
import type { BlobInfo, BlobSource } from './blob-store.js';

/** The name as it is when it is a SHA-256. @throws SkillmillError BLOB_NOT_FOUND */
export function checkedSha256(sha256: string): string {
  if (/^[0-9a-f]{64}$/.test(sha256)) return sha256;
  throw new SkillmillError('BLOB_NOT_FOUND', `${JSON.stringify(sha256)} is no SHA-256 of a file.`);
}

/** The stream's bytes, with BLOB_CORRUPT at the end when they are not what their name says. */
export function verified(source: Readable, sha256: string): Readable {
  const output = new PassThrough();
  const check = async function* (chunks: AsyncIterable<Uint8Array>) {
    const hash = createHash('sha256');
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== sha256) {
      throw new SkillmillError(
        'BLOB_CORRUPT',
        `The stored file ${sha256} is damaged. Remove it from the store and make it again.`,
      );
    }
  };
  pipeline(source, check, output).catch((error: unknown) =>
    output.destroy(SkillmillError.from(error)),
  );
  return output;
}

/** Bytes that are counted and hashed on their way. */
export interface HashedSource {
  readonly bytes: AsyncGenerator<Uint8Array>;
  /** What has passed so far; the whole once `bytes` has ended. */
  readonly info: () => BlobInfo;
}

/** Counts and hashes what passes; ends early with the signal's reason. */
export function hashed(source: BlobSource, signal?: AbortSignal): HashedSource {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const pass = async function* () {
    signal?.throwIfAborted();
    for await (const chunk of source) {
      signal?.throwIfAborted();
      hash.update(chunk);
      sizeBytes += chunk.byteLength;
      yield chunk;
    }
  };
  return { bytes: pass(), info: () => ({ sha256: hash.copy().digest('hex'), sizeBytes }) };
}

type Rest = AsyncIterator<Uint8Array> | Iterator<Uint8Array>;

export interface Head {
  readonly head: Buffer;
  /** All of it, the head included, when there is more than the limit. */
  readonly whole: AsyncIterable<Uint8Array> | undefined;
}

/** Reads a source up to a limit, so that what is small can be treated as one piece. */
export async function readHead(source: BlobSource, limitBytes: number): Promise<Head> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= limitBytes) {
    const next = await iterator.next();
    if (next.done === true) return { head: Buffer.concat(chunks), whole: undefined };
    chunks.push(next.value);
    size += next.value.byteLength;
  }
  const head = Buffer.concat(chunks);
  return { head, whole: joined(head, iterator) };
}

async function* joined(head: Uint8Array, rest: Rest): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    for (;;) {
      const next = await rest.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
