import { z } from 'zod';
import { turnRequestSchema } from '../contracts/index.js';

/** A file of a request: its bytes beside it while they are few, so that they last as long as the turn waits; else a blob. */
export const storedFileSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  sizeBytes: z.int(),
  base64: z.string().optional(),
});
export type StoredFile = z.infer<typeof storedFileSchema>;

/** A request as Redis keeps it. */
export const storedRequestSchema = turnRequestSchema
  .omit({ files: true, sessionId: true })
  .extend({ files: z.array(storedFileSchema) });
export type StoredRequest = z.infer<typeof storedRequestSchema>;
