import type { BlobStore } from '../../../shared/blobs/blob-store.js';
import type {
  ManifestFile,
  WorkspaceManifest,
} from '../../../shared/session/workspace-manifest.js';
import type { Sandbox, SeenEntry, Tree } from '../../executor/executor.js';

/** A file of this size has a blob of its own: the same bytes elsewhere cost nothing, and it is not written anew with others. */
const ownBlobBytes = 1024 * 1024;
/** Smaller files share blobs of up to this size. */
const sharedBlobBytes = 32 * 1024 * 1024;

/** What was stored. */
export interface StoredFiles {
  readonly entries: readonly ManifestFile[];
  readonly blobs: WorkspaceManifest['blobs'];
  /** Files that could not be read. */
  readonly leftOut: WorkspaceManifest['leftOut'];
}

export interface FileSource {
  readonly sandbox: Pick<Sandbox, 'fetch'>;
  readonly tree: Tree;
}

/** Stores files' bytes: small ones together, large ones each alone. @throws the signal's reason; SkillmillError BLOB_UNAVAILABLE, SANDBOX_UNAVAILABLE */
export async function storeFiles(
  files: readonly SeenEntry[],
  source: FileSource,
  store: { readonly blobs: Pick<BlobStore, 'put'>; readonly signal: AbortSignal },
): Promise<StoredFiles> {
  const entries: ManifestFile[] = [];
  const sizes: Record<string, number> = {};
  const leftOut: { path: string; reason: string }[] = [];
  for (const group of groupsOf(files)) {
    const placed: Omit<ManifestFile, 'blob'>[] = [];
    const bytes = joined(group, source, { placed, leftOut });
    try {
      const { sha256, sizeBytes } = await store.blobs.put(bytes, store.signal);
      sizes[sha256] = sizeBytes;
      entries.push(...placed.map((file) => ({ ...file, blob: sha256 })));
    } finally {
      // A store that fails early may not have read to the end, and the sandbox serves nobody else until then.
      await bytes.return(undefined);
    }
  }
  return { entries, blobs: sizes, leftOut };
}

/** Which files come to lie in one blob. */
function groupsOf(files: readonly SeenEntry[]): SeenEntry[][] {
  const groups: SeenEntry[][] = [];
  let shared: SeenEntry[] = [];
  let size = 0;
  for (const file of files) {
    if (file.sizeBytes >= ownBlobBytes) {
      groups.push([file]);
      continue;
    }
    if (shared.length > 0 && size + file.sizeBytes > sharedBlobBytes) {
      groups.push(shared);
      shared = [];
      size = 0;
    }
    shared.push(file);
    size += file.sizeBytes;
  }
  if (shared.length > 0) groups.push(shared);
  return groups;
}

interface Placing {
  readonly placed: Omit<ManifestFile, 'blob'>[];
  readonly leftOut: { path: string; reason: string }[];
}

/** The bytes of files one after another; notes where each begins. */
async function* joined(
  files: readonly SeenEntry[],
  { sandbox, tree }: FileSource,
  { placed, leftOut }: Placing,
): AsyncGenerator<Uint8Array> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  let offset = 0;
  for await (const read of sandbox.fetch(files, tree)) {
    const seen = byPath.get(read.path);
    if (seen === undefined) continue;
    if ('error' in read) {
      leftOut.push({ path: read.path, reason: read.error });
      continue;
    }
    const start = offset;
    for await (const chunk of read.content) {
      if (!(chunk instanceof Uint8Array)) continue;
      offset += chunk.byteLength;
      yield chunk;
    }
    const { path, mode, mtime } = seen;
    placed.push({ kind: 'file', path, mode, mtime, sizeBytes: offset - start, offset: start });
  }
}
