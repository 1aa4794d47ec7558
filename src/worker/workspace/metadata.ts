import type { WorkspaceEntry } from '../executor/executor.js';
import type { StoredFile } from '../../shared/results/stored-request.js';
import { inputsFolder } from './workspace-path.js';

/** `metadata.json`: what stands in the workspace and where it came from. */
export function metadataEntry(
  skills: ReadonlyMap<string, string>,
  inputs: readonly StoredFile[],
): WorkspaceEntry {
  const metadata = {
    version: 1,
    updated_at: new Date().toISOString(),
    skills: Object.fromEntries(
      [...skills].map(([name, digest]) => [name, { rel_path: `skills/${name}`, digest }]),
    ),
    inputs: inputs.map((input) => ({
      path: `${inputsFolder}/${input.path}`,
      sha256: input.sha256,
      size_bytes: input.sizeBytes,
      source: input.source,
    })),
  };
  const content = Buffer.from(`${JSON.stringify(metadata, null, 2)}\n`);
  return { path: 'metadata.json', kind: 'file', mode: 0o644, content };
}
