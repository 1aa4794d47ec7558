import { isUtf8 } from 'node:buffer';
import type { BigIntStats } from 'node:fs';
import { chmod, lstat, lutimes, mkdir, open, readdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadFile, RestoredEntry, SeenEntry, Tree, TreeEntry } from '../executor.js';
import { foldersAboveScan, isClosedFile, isClosedFolder, TreeBuilder } from '../listing.js';
import { kindOf, readTree } from './walk-files.js';

const OWNER_MAY_ALL = 0o700;

interface Scan {
  readonly root: string;
  readonly builder: TreeBuilder;
  readonly signal: AbortSignal;
}

/** All below the folders of a root, for a snapshot. @throws the signal's reason */
export async function scanTree(
  root: string,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<Tree> {
  const builder = new TreeBuilder();
  for (const folder of folders) {
    const stats = await lstat(join(root, folder), { bigint: true }).catch(() => undefined);
    if (stats?.isDirectory() === true) await scanFolder({ root, builder, signal }, folder, stats);
  }
  return builder.build();
}

async function scanFolder(scan: Scan, folder: string, stats: BigIntStats): Promise<void> {
  const at = join(scan.root, folder);
  const mode = modeOf(stats);
  const isClosed = (mode & 0o500) !== 0o500;
  if (isClosed) await chmod(at, mode | OWNER_MAY_ALL);
  try {
    for (const name of await readdir(Buffer.from(at), { encoding: 'buffer' })) {
      scan.signal.throwIfAborted();
      const path = `${folder}/${name.toString('utf8')}`;
      if (isUtf8(name)) await visit(scan, path);
      else scan.builder.skip(path, 'a name that is not UTF-8');
    }
  } finally {
    if (isClosed) await chmod(at, mode);
  }
}

async function visit(scan: Scan, path: string): Promise<void> {
  const { root, builder } = scan;
  const stats = await lstat(join(root, path), { bigint: true }).catch(() => undefined);
  if (stats === undefined) return; // gone in the meantime
  const common = { path, mode: modeOf(stats), mtime: timeOf(stats), sizeBytes: 0, fingerprint: '' };
  if (stats.isDirectory()) {
    builder.add({ ...common, kind: 'directory' });
    await scanFolder(scan, path, stats);
  } else if (stats.isFile()) {
    const fingerprint = `${stats.ino}-${stats.size}-${stats.ctimeNs}`;
    builder.add({ ...common, kind: 'file', sizeBytes: Number(stats.size), fingerprint });
  } else if (stats.isSymbolicLink()) {
    const target = await readlink(join(root, path), { encoding: 'buffer' });
    if (isUtf8(target))
      builder.add({ ...common, kind: 'symlink', target: target.toString('utf8') });
    else builder.skip(path, 'a link to a name that is not UTF-8');
  } else builder.skip(path, kindOf(stats));
}

const modeOf = (stats: BigIntStats) => Number(stats.mode) & 0o7777;

function timeOf({ mtimeNs }: BigIntStats): string {
  const billion = 1_000_000_000n;
  const fraction = ((mtimeNs % billion) + billion) % billion;
  return `${(mtimeNs - fraction) / billion}.${String(fraction).padStart(9, '0')}`;
}

/** Reads files of a scan; what is closed is opened meanwhile. @throws the signal's reason */
export async function* fetchFiles(
  root: string,
  { files, scanned }: { readonly files: readonly SeenEntry[]; readonly scanned: Tree },
  signal: AbortSignal,
): AsyncGenerator<ReadFile> {
  const closed = [...scanned.entries.filter(isClosedFolder), ...files.filter(isClosedFile)];
  const modes = await modesAbove(root, foldersAboveScan(files, scanned));
  modes.push(...closed.map((entry) => ({ at: join(root, entry.path), mode: entry.mode })));
  for (const { at, mode } of modes) await chmod(at, mode | OWNER_MAY_ALL);
  try {
    const paths = files.map((file) => file.path);
    yield* readTree(root, paths, signal);
  } finally {
    for (const { at, mode } of modes.reverse()) await chmod(at, mode).catch(() => undefined);
  }
}

async function modesAbove(root: string, folders: readonly string[]) {
  const modes: { at: string; mode: number }[] = [];
  for (const folder of folders) {
    const at = join(root, folder);
    const stats = await lstat(at, { bigint: true }).catch(() => undefined);
    if (stats?.isDirectory() === true) modes.push({ at, mode: modeOf(stats) });
  }
  return modes;
}

/** Puts entries back below a root. Times are kept to the microsecond: Node takes them as numbers of seconds.
 *  @throws the signal's reason; what a content fails with; errors of the file system */
export async function restoreTree(
  root: string,
  entries: AsyncIterable<RestoredEntry>,
  signal: AbortSignal,
): Promise<void> {
  const folders: TreeEntry[] = [];
  for await (const { entry, content } of entries) {
    signal.throwIfAborted();
    const at = join(root, entry.path);
    if (entry.kind === 'directory') {
      await mkdir(at);
      folders.push(entry);
      continue;
    }
    if (entry.kind === 'symlink') await symlink(entry.target ?? '', at);
    else await writeNew(at, entry.mode, content);
    await setTime(at, entry);
  }
  // Innermost first: a folder's own mode must not keep us out of what lies in it, nor may that change its time.
  for (const folder of folders.reverse()) {
    await setTime(join(root, folder.path), folder);
    await chmod(join(root, folder.path), folder.mode);
  }
}

async function writeNew(at: string, mode: number, content: AsyncIterable<Uint8Array>) {
  const file = await open(at, 'wx', 0o600);
  try {
    for await (const chunk of content) await file.writeFile(chunk);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

async function setTime(at: string, { mtime }: TreeEntry): Promise<void> {
  const [seconds, fraction = ''] = mtime.split('.');
  // In the middle of its microsecond, so that what Node makes of the number is that one.
  const exact = Number(seconds) + (Number(fraction.slice(0, 6)) + 0.5) / 1_000_000;
  // A number below 0 would be taken for now.
  const time = exact < 0 ? new Date(Math.floor(exact * 1000)) : exact;
  await lutimes(at, time, time);
}
