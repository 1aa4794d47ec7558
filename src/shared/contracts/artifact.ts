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
