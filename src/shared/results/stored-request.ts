import { z } from 'zod';
import { turnRequestSchema } from '../contracts/index.js';

/** A file of a request: its bytes beside it while they are few, so that they last as long as the turn waits; else a blob. */
const storedFileSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  sizeBytes: z.int(),
  base64: z.string().optional(),
  /** Where it was fetched from, as people may see it. */
  source: z.union([z.object({ url: z.string() }), z.object({ artifact: z.string() })]).optional(),
});
export type StoredFile = z.infer<typeof storedFileSchema>;

/** A file of a request that a worker may still have to fetch. */
const requestedFileSchema = z.union([
  storedFileSchema,
  z.object({ path: z.string(), url: z.string(), sha256: z.string().optional() }),
  z.object({ path: z.string(), artifact: z.string() }),
]);
export type RequestedFile = z.infer<typeof requestedFileSchema>;

/** Are the file's bytes known, and where they are? */
export function isStored(file: RequestedFile): file is StoredFile {
  return 'sizeBytes' in file;
}

/** A request as Redis keeps it. */
export const storedRequestSchema = turnRequestSchema
  .omit({ files: true, sessionId: true })
  .extend({ files: z.array(requestedFileSchema) });
export type StoredRequest = z.infer<typeof storedRequestSchema>;
