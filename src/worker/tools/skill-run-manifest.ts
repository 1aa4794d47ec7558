import type { Artifact } from '../../shared/contracts/index.js';
import type { CollectedFile } from '../workspace/output-collector.js';

/** One file in a `skill_run` result; names are tRPC-Agent's. */
export interface OutputFile {
  readonly name: string;
  readonly content: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  /** True when `content` is not the whole text. */
  readonly truncated: boolean;
  readonly ref: string;
}

/** A collected file, and the artifact that it is kept as. */
export interface KeptFile {
  readonly file: CollectedFile;
  readonly artifact: Artifact | undefined;
}

/** One file of the manifest that `outputs` asks for. */
export interface ManifestFile {
  readonly name: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  readonly content?: string;
  readonly truncated?: boolean;
  /** The artifact that it is kept as. */
  readonly saved_as?: string;
  readonly version?: number;
}

/** What a call with `outputs` is answered beside its files (tRPC-Agent's manifest). */
export interface Manifest {
  readonly files: readonly ManifestFile[];
  readonly limits_hit: boolean;
}

/** The manifest of a run's files; with `inline` it is where their text stands. */
export function manifestOf(
  files: readonly OutputFile[],
  kept: readonly KeptFile[],
  { inline, limitsHit }: { readonly inline: boolean; readonly limitsHit: boolean },
): Manifest {
  const artifacts = new Map(kept.map(({ file, artifact }) => [file.name, artifact]));
  return {
    files: files.map(({ name, mime_type, size_bytes, content, truncated }) => {
      const artifact = artifacts.get(name);
      return {
        ...{ name, mime_type, size_bytes },
        ...(inline && content !== '' ? { content, truncated } : {}),
        ...(artifact === undefined ? {} : { saved_as: artifact.name, version: artifact.version }),
      };
    }),
    limits_hit: limitsHit,
  };
}
