import { createHash } from 'node:crypto';
import { compareText } from './tree-file.js';

/** SHA-256 (hex) of some bytes. */
export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A file as it enters a tree digest. */
export interface DigestedFile {
  readonly path: string;
  readonly executable: boolean;
  /** Hex. */
  readonly sha256: string;
}

/** SHA-256 (hex) of a skill's tree: one line `x|- <sha256 of content> <path as JSON>` a file, sorted by path (DESIGN §4.3, issue 3 point 6). */
export function treeDigest(files: readonly DigestedFile[]): string {
  const hash = createHash('sha256');
  for (const file of [...files].sort((a, b) => compareText(a.path, b.path))) {
    hash.update(`${file.executable ? 'x' : '-'} ${file.sha256} ${JSON.stringify(file.path)}\n`);
  }
  return hash.digest('hex');
}
