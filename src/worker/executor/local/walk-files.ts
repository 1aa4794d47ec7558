import { isUtf8 } from 'node:buffer';
import { constants, type BigIntStats } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { FileListing, ReadFile } from '../executor.js';
import { ListingBuilder, UNREADABLE } from '../listing.js';

/** Beyond it a listing is cut, so that a command cannot fill the worker's memory with names. */
const MAX_FOUND = 150_000;

/** Lists regular files below the given folders of a root; links are never followed, wherever they stand in a path. */
export async function listTree(
  root: string,
  folders: readonly string[],
  limit: number,
): Promise<FileListing> {
  const listing = new ListingBuilder(limit);
  for (const folder of folders) {
    if (await isPlain(root, folder)) await walk(root, folder, listing);
  }
  return listing.build();
}

/** Opens files for reading, in order; what is no regular file reached without a link gives an error entry. */
export async function* readTree(root: string, paths: readonly string[]): AsyncGenerator<ReadFile> {
  for (const path of paths) {
    const content = await openPlain(root, path);
    if (content === undefined) {
      yield { path, error: UNREADABLE };
      continue;
    }
    try {
      yield { path, content };
    } finally {
      content.destroy();
    }
  }
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

async function walk(root: string, folder: string, listing: ListingBuilder): Promise<void> {
  const names = await readdir(Buffer.from(join(root, folder)), { encoding: 'buffer' }).catch(
    () => undefined,
  );
  if (names === undefined) {
    const isFolder = (await lstat(join(root, folder)).catch(() => undefined))?.isDirectory();
    if (isFolder === true) listing.skip(folder, 'a folder that cannot be opened');
    return;
  }
  for (const name of names) {
    const path = `${folder}/${name.toString('utf8')}`;
    if (listing.count >= MAX_FOUND) {
      listing.cut();
      return;
    }
    if (isUtf8(name)) await visit(root, path, listing);
    else listing.skip(path, 'a name that is not UTF-8');
  }
}

async function visit(root: string, path: string, listing: ListingBuilder): Promise<void> {
  const stats = await lstat(join(root, path), { bigint: true }).catch(() => undefined);
  if (stats === undefined) return; // gone in the meantime
  if (stats.isDirectory()) await walk(root, path, listing);
  else if (!stats.isFile()) listing.skip(path, kindOf(stats));
  else {
    const fingerprint = `${stats.ino}-${stats.size}-${stats.ctimeNs}`;
    listing.add({ path, sizeBytes: Number(stats.size), fingerprint });
  }
}

function kindOf(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}
