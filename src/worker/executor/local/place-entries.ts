import { chmod, lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parentsOf } from '../check-entry.js';
import type { EntryOwner, WorkspaceEntry } from '../executor.js';

const PARENT_MODE = 0o755;
const OWNER_MAY_ALL = 0o700;
const WRITE_BITS = 0o222;
const OTHERS_MAY_WRITE = 0o002;

/** Puts entries below a root, in order. A link where a folder or file is to be is replaced and never followed, since a command
 *  may have planted it. The keeper's entries lose their write bits, but for folders that everybody may write (`.venv`):
 *  here commands run as the same user, so modes are all that reminds them. @throws the signal's reason; errors of the file system */
export async function placeEntries(
  root: string,
  entries: readonly WorkspaceEntry[],
  owner: EntryOwner,
  signal: AbortSignal,
): Promise<void> {
  const finalModes = new Map<string, number>();
  for (const entry of entries) {
    signal.throwIfAborted();
    for (const parent of parentsOf(entry.path)) {
      await openFolder(join(root, parent), PARENT_MODE, owner, finalModes);
    }
    const at = join(root, entry.path);
    if (entry.kind === 'directory') {
      await openFolder(at, entry.mode, owner, finalModes);
      finalModes.set(at, keptMode(entry.mode, owner));
      continue;
    }
    await rm(at, { force: true });
    if (entry.kind === 'symlink') await symlink(entry.target ?? '', at);
    else await place(at, entry, keptMode(entry.mode, owner), signal);
  }
  // Innermost first: a folder's own mode must not keep us out of what lies in it.
  for (const [folder, mode] of [...finalModes].reverse()) await chmod(folder, mode);
}

async function place(
  at: string,
  { content }: WorkspaceEntry,
  mode: number,
  signal: AbortSignal,
): Promise<void> {
  await writeFile(at, content ?? new Uint8Array(), { flag: 'wx', mode: 0o600, signal });
  await chmod(at, mode); // not by writeFile, whose mode the umask changes
}

/** Makes sure that a real folder is there and may be written now; notes the mode that it is to have at last. */
async function openFolder(
  at: string,
  mode: number,
  owner: EntryOwner,
  finalModes: Map<string, number>,
): Promise<void> {
  if (finalModes.has(at)) return;
  const found = await lstat(at).catch(() => undefined);
  if (found?.isDirectory() === true) {
    // A folder that a command has closed stays open: it could not be used otherwise.
    finalModes.set(at, (found.mode & 0o7777) | (owner === 'command' ? OWNER_MAY_ALL : 0));
  } else {
    if (found !== undefined) await rm(at, { force: true });
    await mkdir(at);
    finalModes.set(at, keptMode(mode, owner));
  }
  await chmod(at, OWNER_MAY_ALL);
}

function keptMode(mode: number, owner: EntryOwner): number {
  const writable = owner === 'command' || (mode & OTHERS_MAY_WRITE) !== 0;
  return writable ? mode : mode & ~WRITE_BITS;
}
