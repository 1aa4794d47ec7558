import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../../../shared/blobs/blob-store.js';
import type { WorkspaceVersion } from '../../../shared/contracts/index.js';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { StoredFile } from '../../../shared/results/stored-request.js';
import {
  decodeManifest,
  emptyManifest,
  encodeManifest,
  manifestTotals,
  type ManifestEntry,
  type WorkspaceManifest,
} from '../../../shared/session/workspace-manifest.js';
import type { Sandbox, SeenEntry, Tree } from '../../executor/executor.js';
import { isClosedFile } from '../../executor/listing.js';
import { overlayInputs, sorted } from './overlay-inputs.js';
import { isBelow, planSnapshot, type KnownEntry } from './plan-snapshot.js';
import { restoredEntries } from './restored-entries.js';
import { storeFiles } from './store-files.js';

/** What a session may keep from turn to turn. */
export interface SnapshotLimits {
  readonly bytes: number;
  /** Files, folders and links together. */
  readonly entries: number;
}

export interface SessionFilesOptions {
  /** The version that the session has; undefined when no turn has left a file. */
  readonly base: WorkspaceVersion | undefined;
  /** The last version that an attempt before has made of it, with the turn's files. */
  readonly checkpoint?: WorkspaceVersion | undefined;
  /** Files that came with the turn. */
  readonly inputs: readonly StoredFile[];
  readonly blobs: BlobStore;
  readonly limits: SnapshotLimits;
  readonly signal: AbortSignal;
}

type SnapshotSandbox = Pick<Sandbox, 'scan' | 'fetch' | 'restore'>;

/**
 * The session's files as a turn has them: the version that it found with its inputs, then each snapshot of its sandbox. A
 * snapshot is in force when its list of files is stored, after all bytes that it names; until then the one before is.
 *
 *   restore(): manifest in force ──▶ sandbox        save(): sandbox ──▶ blobs ──▶ manifest in force
 */
export class SessionFiles {
  private readonly options: SessionFilesOptions;
  private inForce: Promise<WorkspaceManifest> | undefined;
  private saved: WorkspaceVersion | undefined;
  /** What the sandbox that is open holds, as it was last seen. */
  private readonly known = new Map<string, KnownEntry>();
  /** Folders of the sandbox that hold the session's files. */
  private readonly folders = new Set<string>();

  constructor(options: SessionFilesOptions) {
    this.options = options;
    this.saved = options.checkpoint;
  }

  /** The session's next version; undefined as long as this turn has changed nothing. */
  get version(): WorkspaceVersion | undefined {
    return this.saved;
  }

  /** What earlier turns left that no snapshot can hold. */
  async leftOut(): Promise<WorkspaceManifest['leftOut']> {
    return (await this.manifest()).leftOut;
  }

  /** Puts the files below some folders, which are empty, back into a sandbox; gives them as they lie there now.
   *  @throws the signal's reason; SkillmillError BLOB_NOT_FOUND, BLOB_UNAVAILABLE, BLOB_CORRUPT, LIMIT_EXCEEDED, SANDBOX_UNAVAILABLE */
  async restore(
    sandbox: SnapshotSandbox,
    folders: readonly string[],
  ): Promise<readonly SeenEntry[]> {
    const { entries } = await this.manifest();
    const wanted = entries.filter(({ path }) => isBelow(path, folders));
    if (wanted.length > 0) await sandbox.restore(restoredEntries(wanted, this.options.blobs));
    for (const folder of folders) this.folders.add(folder);
    if (wanted.length === 0) return [];
    const tree = await sandbox.scan(folders);
    this.learn(tree, wanted);
    return tree.entries;
  }

  /** Forgets the sandbox: it is gone. */
  forget(): void {
    this.known.clear();
    this.folders.clear();
  }

  /** Makes a snapshot of the sandbox, if something is other than before. @throws the signal's reason; SkillmillError
   *  LIMIT_EXCEEDED, BLOB_UNAVAILABLE, SANDBOX_UNAVAILABLE; the snapshot before stays in force then */
  async save(sandbox: SnapshotSandbox): Promise<void> {
    const before = await this.manifest();
    const folders = [...this.folders];
    const tree = await sandbox.scan(folders);
    const plan = planSnapshot(before, this.known, { tree, folders });
    if (!plan.isChanged) return;
    this.checkSize([...plan.settled, ...plan.toStore], tree.truncated);
    const { entries, blobs, leftOut } = await storeFiles(
      plan.toStore,
      { sandbox, tree },
      this.options,
    );
    const all = sorted([...plan.settled, ...entries]);
    const manifest = {
      ...before,
      entries: all,
      blobs: { ...before.blobs, ...blobs },
      leftOut: [...plan.leftOut, ...leftOut],
    };
    await this.keep(manifest);
    // What was closed has been opened for reading, and so looks changed.
    const isTouched = plan.toStore.some(isClosedFile);
    this.known.clear();
    this.learn(isTouched ? await sandbox.scan(folders) : tree, all);
  }

  /** Makes the turn's inputs part of the session also when no command ran. @throws as `save` */
  async keepInputs(): Promise<void> {
    if (this.options.inputs.length > 0 && this.saved === undefined) {
      const manifest = await this.manifest();
      this.checkSize(manifest.entries);
      await this.keep(manifest);
    }
  }

  private manifest(): Promise<WorkspaceManifest> {
    return (this.inForce ??= this.load().catch((error: unknown) => {
      this.inForce = undefined;
      throw error;
    }));
  }

  private async load(): Promise<WorkspaceManifest> {
    const { base, checkpoint, inputs, blobs } = this.options;
    const read = async ({ manifest }: WorkspaceVersion) =>
      decodeManifest(await buffer(await blobs.open(manifest)));
    if (checkpoint !== undefined) return read(checkpoint);
    return overlayInputs(base === undefined ? emptyManifest : await read(base), inputs, blobs);
  }

  private async keep(found: WorkspaceManifest): Promise<void> {
    const { base, blobs } = this.options;
    const manifest = { ...found, blobs: usedBlobs(found.entries, found.blobs) };
    const { sha256 } = await blobs.put([await encodeManifest(manifest)]);
    this.inForce = Promise.resolve(manifest);
    this.saved = {
      version: (base?.version ?? 0) + 1,
      manifest: sha256,
      blobs: Object.keys(manifest.blobs),
      ...manifestTotals(manifest),
      savedAt: Date.now(),
    };
  }

  private learn(tree: Tree, kept: readonly ManifestEntry[]): void {
    const byPath = new Map(kept.map((entry) => [entry.path, entry]));
    for (const seen of tree.entries) {
      const entry = byPath.get(seen.path);
      if (entry !== undefined) this.known.set(seen.path, { seen, kept: entry });
    }
  }

  private checkSize(entries: readonly (ManifestEntry | SeenEntry)[], isCut = false): void {
    const { limits } = this.options;
    if (isCut || entries.length > limits.entries) {
      const what = `more than ${limits.entries} files, folders and links`;
      throw tooMuch('workspaceEntries', limits.entries, what);
    }
    const sizes = entries.map((entry) => ('sizeBytes' in entry ? entry.sizeBytes : 0));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > limits.bytes) throw tooMuch('workspaceBytes', limits.bytes, `${bytes} bytes`);
  }
}

/** The blobs that entries name. */
function usedBlobs(
  entries: readonly ManifestEntry[],
  sizes: WorkspaceManifest['blobs'],
): WorkspaceManifest['blobs'] {
  const used = new Set(entries.flatMap((entry) => (entry.kind === 'file' ? [entry.blob] : [])));
  return Object.fromEntries(Object.entries(sizes).filter(([blob]) => used.has(blob)));
}

function tooMuch(limit: string, value: number, what: string): SkillmillError {
  const orRaise = limit === 'workspaceBytes' ? ', or raise SKILLMILL_WORKSPACE_MAX_MB' : '';
  return new SkillmillError(
    'LIMIT_EXCEEDED',
    `The session’s workspace holds ${what}, more than is kept from turn to turn (${limit} ${value}). Delete files in work/ and out/ that are no longer needed${orRaise}.`,
    { details: { limit, value } },
  );
}
