import { isUtf8 } from 'node:buffer';
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { FileListing, ReadFile } from '../executor.js';
import { ListingBuilder, UNREADABLE } from '../listing.js';

/** Beyond it a listing is cut, so that a command cannot fill the worker's memory with names. */
const MAX_FOUND = 150_000;

/** Lists regular files below the given folders of a root; links are never followed, wherever they stand in a path.
 *  @throws the signal's reason */
export async function listTree(
  root: string,
  folders: readonly string[],
  limit: number,
  signal: AbortSignal,
): Promise<FileListing> {
  const listing = new ListingBuilder(limit);
  const walk = { root, listing, signal };
  for (const folder of folders) {
    if (await isPlain(root, folder)) await walkFolder(walk, folder);
  }
  return listing.build();
}

/** Opens files for reading, in order; what is no regular file reached without a link gives an error entry.
 *  @throws the signal's reason, and so does a content that is being read then */
export async function* readTree(
  root: string,
  paths: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<ReadFile> {
  for (const path of paths) {
    signal.throwIfAborted();
    const content = await openPlain(root, path);
    if (content === undefined) {
      yield { path, error: UNREADABLE };
      continue;
    }
    const stop = () => content.destroy(errorOf(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    content.on('error', () => undefined); // who reads it is told all the same; who does not must not crash
    try {
      yield { path, content };
    } finally {
      signal.removeEventListener('abort', stop);
      content.destroy();
    }
    signal.throwIfAborted();
  }
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : SkillmillError.from(reason);
}

/** Is what lies there reached without a link? The root itself is a real path. */
async function isPlain(root: string, path: string): Promise<boolean> {
  const at = join(root, path);
  const real = await realpath(at).catch(() => undefined);
  return real === at;
}

async function openPlain(root: string, path: string): Promise<Readable | undefined> {
  if (!(await isPlain(root, path))) return undefined;
  // O_NONBLOCK: a FIFO that took the file's place must not hold us up.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(join(root, path), flags).catch(() => undefined);
  if (handle === undefined) return undefined;
  const stats = await handle.stat();
  if (stats.isFile()) {
    // Its size now is where it ends, however fast it grows.
    if (stats.size > 0) return handle.createReadStream({ start: 0, end: stats.size - 1 });
    await handle.close();
    return Readable.from([]);
  }
  await handle.close();
  return undefined;
}

interface Walk {
  readonly root: string;
  readonly listing: ListingBuilder;
  readonly signal: AbortSignal;
}

async function walkFolder(walk: Walk, folder: string): Promise<void> {
  const { root, listing, signal } = walk;
  const names = await readdir(Buffer.from(join(root, folder)), { encoding: 'buffer' }).catch(
    () => undefined,
  );
  if (names === undefined) {
    const isFolder = (await lstat(join(root, folder)).catch(() => undefined))?.isDirectory();
    if (isFolder === true) listing.skip(folder, 'a folder that cannot be opened');
    return;
  }
  for (const name of names) {
    signal.throwIfAborted();
    const path = `${folder}/${name.toString('utf8')}`;
    if (listing.count >= MAX_FOUND) {
      listing.cut();
      return;
    }
    if (isUtf8(name)) await visit(walk, path);
    else listing.skip(path, 'a name that is not UTF-8');
  }
}

async function visit(walk: Walk, path: string): Promise<void> {
  const { root, listing } = walk;
  const stats = await lstat(join(root, path), { bigint: true }).catch(() => undefined);
  if (stats === undefined) return; // gone in the meantime
  if (stats.isDirectory()) await walkFolder(walk, path);
  else if (!stats.isFile()) listing.skip(path, kindOf(stats));
  else {
    const fingerprint = `${stats.ino}-${stats.size}-${stats.ctimeNs}`;
    listing.add({ path, sizeBytes: Number(stats.size), fingerprint });
  }
}

/** What something is that is neither file nor folder. */
export function kindOf(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}
