import { z } from 'zod';
import { turnRequestSchema } from '../contracts/index.js';

/** A request as Redis keeps it: files are blobs, so that large inputs never go through it. */
export const storedRequestSchema = turnRequestSchema.omit({ files: true, sessionId: true }).extend({
  files: z.array(z.object({ path: z.string(), sha256: z.string(), sizeBytes: z.int() })),
});
export type StoredRequest = z.infer<typeof storedRequestSchema>;
