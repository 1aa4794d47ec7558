import type { BlobStore } from '../../../shared/blobs/blob-store.js';
import type { StoredFile } from '../../../shared/results/stored-request.js';
import type {
  ManifestEntry,
  ManifestFile,
  WorkspaceManifest,
} from '../../../shared/session/workspace-manifest.js';
import { parentsOf } from '../../executor/check-entry.js';
import { inputsFolder } from '../workspace-path.js';

const fileMode = 0o644;
const folderMode = 0o755;

/** A manifest with a turn's inputs in `work/inputs/`; what stands in their place or in their way is gone.
 *  @throws SkillmillError BLOB_UNAVAILABLE */
export async function overlayInputs(
  manifest: WorkspaceManifest,
  inputs: readonly StoredFile[],
  blobs: Pick<BlobStore, 'put'>,
): Promise<WorkspaceManifest> {
  if (inputs.length === 0) return manifest;
  const mtime = timeOf(Date.now());
  const files = await stored(inputs, blobs);
  const entries = entriesBeside(files, manifest);
  const sizes = { ...manifest.blobs };
  for (const { path, content } of files) {
    const parents = parentsOf(path).filter((parent) => parent.startsWith(`${inputsFolder}/`));
    for (const parent of parents) {
      if (entries.get(parent)?.kind === 'directory') continue;
      entries.set(parent, { kind: 'directory', path: parent, mode: folderMode, mtime });
    }
    sizes[content.blob] = content.blobBytes;
    const { blob, offset, sizeBytes } = content;
    entries.set(path, { kind: 'file', path, mode: fileMode, mtime, blob, offset, sizeBytes });
  }
  return { ...manifest, entries: sorted([...entries.values()]), blobs: sizes };
}

/** A manifest's entries by path, without what lies below files that come. */
function entriesBeside(
  files: readonly { readonly path: string }[],
  { entries }: WorkspaceManifest,
): Map<string, ManifestEntry> {
  const coming = new Set(files.map(({ path }) => path));
  const beside = entries.filter(({ path }) => !parentsOf(path).some((each) => coming.has(each)));
  return new Map(beside.map((entry) => [entry.path, entry]));
}

/** Entries in the order of a manifest. */
export function sorted(entries: readonly ManifestEntry[]): ManifestEntry[] {
  return [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
}

type Content = Pick<ManifestFile, 'blob' | 'offset' | 'sizeBytes'> & { readonly blobBytes: number };

/** Where each input's bytes are; those that came with the request are put into one blob. */
async function stored(
  inputs: readonly StoredFile[],
  blobs: Pick<BlobStore, 'put'>,
): Promise<{ path: string; content: Content }[]> {
  const inline = inputs.flatMap(({ base64 }) =>
    base64 === undefined ? [] : [Buffer.from(base64, 'base64')],
  );
  const shared = inline.length === 0 ? undefined : await blobs.put(inline);
  let offset = 0;
  return inputs.map((input) => {
    const path = `${inputsFolder}/${input.path}`;
    const { sizeBytes } = input;
    if (input.base64 === undefined || shared === undefined) {
      const content = { blob: input.sha256, offset: 0, sizeBytes, blobBytes: sizeBytes };
      return { path, content };
    }
    const content = { blob: shared.sha256, offset, sizeBytes, blobBytes: shared.sizeBytes };
    offset += sizeBytes;
    return { path, content };
  });
}

function timeOf(milliseconds: number): string {
  return `${Math.floor(milliseconds / 1000)}.${String(milliseconds % 1000).padStart(3, '0')}000000`;
}
