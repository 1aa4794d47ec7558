import { createHash } from 'node:crypto';
import type { BlobStore } from '../blobs/blob-store.js';
import type { FileInput } from '../contracts/index.js';
import type { StoredRequest } from '../results/stored-request.js';

/** Large inputs do not go through Redis: this many bytes of a request's files do, all of them together. */
const inlineFilesBytes = 256 * 1024;

/** Files' bytes beside the request while they are few in all; the rest go to the blob store. What is elsewhere the worker fetches.
 *  @throws SkillmillError BLOB_UNAVAILABLE */
export async function storeFiles(
  blobs: BlobStore,
  files: readonly FileInput[],
): Promise<StoredRequest['files']> {
  let room = inlineFilesBytes;
  return Promise.all(
    files.map(async (file) => {
      if ('url' in file || 'artifact' in file) return file;
      const bytes =
        'content' in file ? Buffer.from(file.content, 'utf8') : Buffer.from(file.base64, 'base64');
      if (bytes.byteLength > room) return { path: file.path, ...(await blobs.put([bytes])) };
      room -= bytes.byteLength;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const base64 = bytes.toString('base64');
      return { path: file.path, sha256, sizeBytes: bytes.byteLength, base64 };
    }),
  );
}
