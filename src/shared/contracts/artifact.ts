import { z } from 'zod';

/** A named, versioned file kept after the turn. */
export const artifactSchema = z.object({
  name: z.string().describe('Path in the workspace, e.g. out/report.txt'),
  version: z.int().min(0).describe('Rises by one for each new content of the name in its session'),
  mimeType: z.string(),
  sizeBytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  ref: z.string().describe('artifact://name@version'),
});
export type Artifact = z.infer<typeof artifactSchema>;

/** `artifact://name@version`. */
export function formatArtifactRef(name: string, version: number): string {
  return `artifact://${name}@${version}`;
}

/** Name and version of `artifact://name[@version]`; undefined when it is none. */
export function parseArtifactRef(
  ref: string,
): { readonly name: string; readonly version: number | undefined } | undefined {
  const [, name = '', version] = /^artifact:\/\/([^\0]+?)(?:@(\d{1,9}))?$/s.exec(ref) ?? [];
  // `a@1@2` may mean two things: neither is guessed.
  if (name === '' || /@\d*$/.test(name)) return undefined;
  return { name, version: version === undefined ? undefined : Number(version) };
}
