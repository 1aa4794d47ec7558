import { randomUUID } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import {
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';
import { checkedSha256, hashed, verified } from './blob-bytes.js';
import type { BlobKeeper, StoredBlob } from './blob-store.js';

const shareAdvice =
  'Check SKILLMILL_DATA_DIR: clients and workers must share it for files over 256 KiB.';

interface Places {
  readonly root: string;
  readonly blobs: string;
  readonly incoming: string;
  readonly pathOf: (sha256: string) => string;
}

/** A blob store in a folder; a shared mount serves several hosts. */
export function createFolderBlobStore(dataDir: string): BlobKeeper {
  const blobs = join(dataDir, 'blobs');
  const places: Places = {
    root: dataDir,
    blobs,
    incoming: join(dataDir, 'incoming'),
    pathOf: (sha256) => join(blobs, checkedSha256(sha256).slice(0, 2), sha256),
  };
  const { incoming, pathOf } = places;
  return {
    id: () =>
      folderId(dataDir).catch((error: unknown) => {
        throw unavailable(`${dataDir} cannot be used`, error);
      }),
    owner: () => readFile(join(dataDir, 'deployment'), 'utf8').catch(ifMissing),
    claim: (deployment, how) => claimFolder(dataDir, deployment, how),
    async put(source, signal) {
      const temporary = join(incoming, randomUUID());
      try {
        await mkdir(incoming, { recursive: true });
        const { bytes, info } = hashed(source, signal);
        await writeAll(temporary, bytes);
        await publish(temporary, pathOf(info().sha256));
        return info();
      } catch (error) {
        signal?.throwIfAborted();
        throw unavailable(`${dataDir} took no file`, error);
      } finally {
        await rm(temporary, { force: true }).catch(() => undefined);
      }
    },
    async open(sha256) {
      try {
        const file = await open(pathOf(sha256));
        return verified(file.createReadStream(), sha256);
      } catch (error) {
        throw missing(dataDir, sha256, error);
      }
    },
    has: async (sha256) => (await statOf(pathOf(sha256))) !== undefined,
    list: () => listBlobs(places),
    async delete(sha256, ifUnmodifiedSince) {
      const path = pathOf(sha256);
      if (!isOld(await statOf(path), ifUnmodifiedSince)) return false;
      const aside = join(incoming, `${sha256}.${randomUUID()}`);
      await mkdir(incoming, { recursive: true });
      // Out of the way first: a put that comes in between makes the blob anew, and nothing of it is removed. Of a collector that
      // dies here the next sweep puts it back.
      if (!(await found(rename(path, aside)))) return false;
      const old = isOld(await statOf(aside), ifUnmodifiedSince);
      // Another collector may have put it back already.
      if (!old) await found(linkNew(aside, path));
      await rm(aside, { force: true });
      return old;
    },
    sweepUnfinished: (before) => sweep(places, before),
  };
}

async function writeAll(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  // Readable for the other clients and workers of the folder, whatever user they run as.
  const file = await open(path, 'wx', 0o644);
  try {
    for await (const chunk of bytes) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Last, and in one step: nobody ever sees half a blob, and one that is there stays as it is, unless it is damaged. */
async function publish(temporary: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await link(temporary, path);
    return;
  } catch (error) {
    // Where a mount knows no hard links, the same bytes replace themselves.
    if (knowsNoLinks(error)) return rename(temporary, path);
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  if (!(await isWhole(path))) return rename(temporary, path);
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch (error) {
    // Only its owner can make a file as new; the same bytes can replace it.
    if (codeOf(error) === 'EPERM') return rename(temporary, path);
    if (codeOf(error) !== 'ENOENT') throw error;
    // It was taken away meanwhile.
    return publish(temporary, path);
  }
}

/** Gives a file another name, unless that is taken; where a mount knows no hard links, it is renamed. */
async function linkNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (!knowsNoLinks(error)) throw error;
    if ((await statOf(to)) === undefined) await rename(from, to);
  }
}

function knowsNoLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'ENOSYS'].includes(String(codeOf(error)));
}

/** Also true for one that has gone. */
async function isWhole(path: string): Promise<boolean> {
  const content = verified(createReadStream(path), basename(path)).resume();
  try {
    await finished(content);
    return true;
  } catch (error) {
    return !(error instanceof SkillmillError && error.code === 'BLOB_CORRUPT');
  }
}

function isOld(file: Stats | undefined, ifUnmodifiedSince: Date): boolean {
  return file !== undefined && file.mtime <= ifUnmodifiedSince;
}

async function* listBlobs({ blobs, pathOf }: Places): AsyncGenerator<StoredBlob> {
  for (const folder of await names(blobs)) {
    for (const sha256 of await names(join(blobs, folder))) {
      if (!/^[0-9a-f]{64}$/.test(sha256)) continue;
      const file = await statOf(pathOf(sha256));
      if (file !== undefined) yield { sha256, sizeBytes: file.size, modifiedAt: file.mtime };
    }
  }
}

async function sweep({ incoming, pathOf }: Places, before: Date): Promise<number> {
  let swept = 0;
  for (const name of await names(incoming)) {
    const path = join(incoming, name);
    const file = await statOf(path);
    if (file === undefined || file.mtime >= before) continue;
    const [, sha256] = /^([0-9a-f]{64})\./.exec(name) ?? [];
    if (sha256 !== undefined) await found(linkNew(path, pathOf(sha256)));
    await rm(path, { force: true });
    swept += 1;
  }
  return swept;
}

async function folderId(dataDir: string): Promise<string> {
  await writeRecord(dataDir, { name: 'folder-id', text: randomUUID(), how: 'first' });
  return readFile(join(dataDir, 'folder-id'), 'utf8');
}

async function claimFolder(
  dataDir: string,
  deployment: string,
  how: 'first' | 'over',
): Promise<void> {
  await writeRecord(dataDir, { name: 'deployment', text: deployment, how }).catch(
    (error: unknown) => {
      throw unavailable(`${dataDir} cannot be claimed`, error);
    },
  );
}

interface FolderRecord {
  readonly name: string;
  readonly text: string;
  readonly how: 'first' | 'over';
}

/** Writes a file of the folder's own, which appears whole or not at all. */
async function writeRecord(dataDir: string, { name, text, how }: FolderRecord): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, name);
  const candidate = join(dataDir, `${name}.${randomUUID()}`);
  try {
    // Also where the record stands already: it shows that the folder can be written.
    await writeFile(candidate, text);
    if (how === 'over') await rename(candidate, path);
    else await linkNew(candidate, path);
  } finally {
    await rm(candidate, { force: true }).catch(() => undefined);
  }
}

const statOf = (path: string) => stat(path).catch(ifMissing);
const names = async (folder: string) => (await readdir(folder).catch(ifMissing)) ?? [];
const found = (step: Promise<void>) => step.then(yes).catch(ifMissing).then(Boolean);
const yes = () => true;

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function ifMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw unavailable('The data folder cannot be read', error);
}

function missing(dataDir: string, sha256: string, cause: unknown): SkillmillError {
  if (cause instanceof SkillmillError) return cause;
  return new SkillmillError(
    'BLOB_NOT_FOUND',
    `${dataDir} does not hold ${sha256} (${errorMessage(cause)}). ${shareAdvice}`,
    { cause },
  );
}

function unavailable(what: string, cause: unknown): SkillmillError {
  if (cause instanceof SkillmillError) return cause;
  const full = codeOf(cause) === 'ENOSPC' || codeOf(cause) === 'EDQUOT';
  const advice = full
    ? 'The disk is full: make room, or set SKILLMILL_DATA_DIR to a folder with more.'
    : shareAdvice;
  const sentence = `${what} (${errorMessage(cause)}). ${advice}`;
  return new SkillmillError('BLOB_UNAVAILABLE', sentence, { cause });
}
