import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PassThrough, type Readable } from 'node:stream';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';
import type { BlobInfo, BlobSource, BlobStore } from './blob-store.js';

/** A blob store in a folder; a shared mount serves several hosts. */
export function createFolderBlobStore(dataDir: string): BlobStore {
  const blobs = join(dataDir, 'blobs');
  const incoming = join(dataDir, 'incoming');
  const pathOf = (sha256: string) => {
    if (!/^[0-9a-f]{64}$/.test(sha256))
      throw unavailable(`${JSON.stringify(sha256)} is no SHA-256`, 'refused');
    return join(blobs, sha256.slice(0, 2), sha256);
  };

  return {
    async put(source) {
      const temporary = join(incoming, randomUUID());
      try {
        await mkdir(incoming, { recursive: true });
        const info = await writeHashed(temporary, source);
        await mkdir(join(blobs, info.sha256.slice(0, 2)), { recursive: true });
        // Last, and in one step: nobody ever sees half a blob, and the same bytes may be put twice at once.
        await rename(temporary, pathOf(info.sha256));
        return info;
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw unavailable(`${dataDir} took no file`, error);
      }
    },
    async open(sha256) {
      try {
        await access(pathOf(sha256));
      } catch (error) {
        throw unavailable(`${dataDir} does not hold ${sha256}`, error);
      }
      return verified(createReadStream(pathOf(sha256)), sha256);
    },
  };
}

async function writeHashed(path: string, source: BlobSource): Promise<BlobInfo> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  // Readable for the other clients and workers of the folder, whatever user they run as.
  const file = await open(path, 'wx', 0o644);
  try {
    for await (const chunk of source) {
      hash.update(chunk);
      sizeBytes += chunk.byteLength;
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** The stream's bytes, with an error at the end when they are not what their name says. */
export function verified(source: Readable, sha256: string): Readable {
  const output = new PassThrough();
  const check = async function* (chunks: AsyncIterable<Uint8Array>) {
    const hash = createHash('sha256');
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== sha256) {
      throw new SkillmillError('BLOB_UNAVAILABLE', `The stored file ${sha256} is damaged.`);
    }
  };
  pipeline(source, check, output).catch((error: unknown) =>
    output.destroy(SkillmillError.from(error)),
  );
  return output;
}

function unavailable(what: string, cause: unknown): SkillmillError {
  if (cause instanceof SkillmillError) return cause;
  return new SkillmillError(
    'BLOB_UNAVAILABLE',
    `${what} (${errorMessage(cause)}). Check SKILLMILL_DATA_DIR: clients and workers must share it for files over 256 KiB.`,
    { cause },
  );
}
