import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { WorkspaceEntry } from '../executor/executor.js';

/** A file of the turn's request, kept as a blob. */
export interface StagedInput {
  /** Below `work/inputs/`. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The request's files as entries of `work/inputs/`. @throws SkillmillError BLOB_UNAVAILABLE */
export async function inputEntries(
  inputs: readonly StagedInput[],
  blobs: BlobStore,
): Promise<WorkspaceEntry[]> {
  return Promise.all(
    inputs.map(async (input) => ({
      path: `work/inputs/${input.path}`,
      kind: 'file' as const,
      mode: 0o644,
      content: await buffer(await blobs.open(input.sha256)),
    })),
  );
}
