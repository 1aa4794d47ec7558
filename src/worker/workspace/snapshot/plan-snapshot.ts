import type {
  ManifestEntry,
  WorkspaceManifest,
} from '../../../shared/session/workspace-manifest.js';
import { inputsFolder } from '../workspace-path.js';
import { isRunDir } from '../../executor/run-dirs.js';
import type { SeenEntry, Tree } from '../../executor/executor.js';

/** What is known of an entry: how it was last seen, and how the manifest in force keeps it. */
export interface KnownEntry {
  readonly seen: SeenEntry;
  readonly kept: ManifestEntry;
}

/** What a snapshot has to do. */
export interface SnapshotPlan {
  /** Entries that need no bytes: unchanged ones, folders, links, and what lies in folders that nobody looked at. */
  readonly settled: readonly ManifestEntry[];
  /** Files whose bytes have to be stored. */
  readonly toStore: readonly SeenEntry[];
  readonly leftOut: WorkspaceManifest['leftOut'];
  /** False when the manifest in force says it all. */
  readonly isChanged: boolean;
}

/** A blob of which less than this part is in use is written anew, without the rest. */
const usedPart = 0.5;
/** So many small blobs are put together into one, so that a session of many turns is not read from a thousand. */
const maxSmallBlobs = 32;
const smallBlobBytes = 1024 * 1024;

/** Compares what lies in some folders with what is known of them. Pure. */
export function planSnapshot(
  before: WorkspaceManifest,
  known: ReadonlyMap<string, KnownEntry>,
  { tree, folders }: { readonly tree: Tree; readonly folders: readonly string[] },
): SnapshotPlan {
  const worn = wornBlobs(before);
  const entries = withoutEmptyRuns(tree.entries).filter(({ path }) => path !== inputsFolder);
  const settled = before.entries.filter(({ path }) => !isBelow(path, folders));
  const toStore: SeenEntry[] = [];
  let isChanged = settled.length + entries.length !== before.entries.length;
  for (const entry of entries) {
    const last = known.get(entry.path);
    const isSame = last !== undefined && looksSame(last.seen, entry);
    if (!isSame) isChanged = true;
    if (isSame && !(last.kept.kind === 'file' && worn.has(last.kept.blob))) settled.push(last.kept);
    else if (entry.kind === 'file') toStore.push(entry);
    else settled.push(keptEntry(entry));
  }
  const leftOut = [
    ...before.leftOut.filter(({ path }) => !isBelow(path, folders)),
    ...tree.skipped,
    ...replacedLayout(tree),
  ];
  if (JSON.stringify(leftOut) !== JSON.stringify(before.leftOut)) isChanged = true;
  return { settled, toStore, leftOut, isChanged };
}

/** What a command has put in the place of a folder that every workspace has from the start. */
function replacedLayout({ entries }: Tree): WorkspaceManifest['leftOut'] {
  const found = entries.find(({ path, kind }) => path === inputsFolder && kind !== 'directory');
  const reason = 'stands where the folder of the inputs belongs';
  return found === undefined ? [] : [{ path: inputsFolder, reason }];
}

/** Does the path lie in one of the folders? */
export function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

/** A command's own folder in which it left nothing is no file of the session: there is one for each command. */
function withoutEmptyRuns(entries: readonly SeenEntry[]): readonly SeenEntry[] {
  const filled = new Set(entries.map(({ path }) => path.slice(0, path.lastIndexOf('/'))));
  return entries.filter(
    ({ path, kind }) => kind !== 'directory' || !isRunDir(path) || filled.has(path),
  );
}

function looksSame(before: SeenEntry, now: SeenEntry): boolean {
  return (
    before.kind === now.kind &&
    before.mode === now.mode &&
    before.mtime === now.mtime &&
    before.fingerprint === now.fingerprint &&
    before.target === now.target
  );
}

function keptEntry({ kind, path, mode, mtime, target }: SeenEntry): ManifestEntry {
  return kind === 'symlink'
    ? { kind, path, mode, mtime, target: target ?? '' }
    : { kind: 'directory', path, mode, mtime };
}

/** Blobs that are to be written anew: those that are mostly waste, and the small ones when there are too many. */
function wornBlobs({ entries, blobs }: WorkspaceManifest): ReadonlySet<string> {
  const used = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind !== 'file') continue;
    used.set(entry.blob, (used.get(entry.blob) ?? 0) + entry.sizeBytes);
  }
  const small = Object.entries(blobs).filter(([, size]) => size < smallBlobBytes);
  const tooMany = small.length > maxSmallBlobs ? small.map(([blob]) => blob) : [];
  const wasteful = Object.entries(blobs).filter(
    ([blob, size]) => (used.get(blob) ?? 0) < size * usedPart,
  );
  return new Set([...tooMany, ...wasteful.map(([blob]) => blob)]);
}
