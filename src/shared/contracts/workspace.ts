import { z } from 'zod';

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** A session's files as one of its turns left them: the list of them and their bytes are blobs. */
export const workspaceVersionSchema = z.object({
  version: z.int().min(1).describe('Rises by one with each turn that changed a file'),
  manifest: sha256Schema.describe('The blob that lists the files (workspace-manifest.ts)'),
  blobs: z.array(sha256Schema).describe('The blobs that hold the files’ bytes'),
  files: z.int().min(0),
  sizeBytes: z.int().min(0),
  savedAt: z.int().describe('Milliseconds since 1970'),
});
export type WorkspaceVersion = z.infer<typeof workspaceVersionSchema>;
