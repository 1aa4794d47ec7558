import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { StoredFile } from '../../shared/results/stored-request.js';
import type { WorkspaceEntry } from '../executor/executor.js';

/** The request's files as entries of `work/inputs/`. @throws SkillmillError BLOB_UNAVAILABLE */
export async function inputEntries(
  inputs: readonly StoredFile[],
  blobs: BlobStore,
): Promise<WorkspaceEntry[]> {
  return Promise.all(
    inputs.map(async (input) => ({
      path: `work/inputs/${input.path}`,
      kind: 'file' as const,
      mode: 0o644,
      content:
        input.base64 === undefined
          ? await buffer(await blobs.open(input.sha256))
          : Buffer.from(input.base64, 'base64'),
    })),
  );
}
