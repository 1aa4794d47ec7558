import type { Readable } from 'node:stream';
import type { BlobStore } from '../../../shared/blobs/blob-store.js';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { ManifestEntry, ManifestFile } from '../../../shared/session/workspace-manifest.js';
import type { RestoredEntry } from '../../executor/executor.js';

/** Entries of a manifest with their bytes: folders first, files in the order in which their blobs hold them, so that each blob is
 *  read once from end to end and so checked, links last. @throws SkillmillError BLOB_NOT_FOUND, BLOB_UNAVAILABLE, BLOB_CORRUPT */
export async function* restoredEntries(
  entries: readonly ManifestEntry[],
  blobs: Pick<BlobStore, 'open'>,
): AsyncGenerator<RestoredEntry> {
  for (const entry of entries) if (entry.kind === 'directory') yield withoutBytes(entry);
  const files = entries.filter((entry) => entry.kind === 'file');
  for (const [blob, group] of byBlob(files)) yield* filesOf(blob, group, blobs);
  for (const entry of entries) if (entry.kind === 'symlink') yield withoutBytes(entry);
}

function withoutBytes(entry: ManifestEntry): RestoredEntry {
  return { entry: { ...entry, sizeBytes: 0 }, content: nothing() };
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // a folder or link has no bytes
}

function byBlob(files: readonly ManifestFile[]): ReadonlyMap<string, ManifestFile[]> {
  const groups = new Map<string, ManifestFile[]>();
  for (const file of files) {
    const group = groups.get(file.blob) ?? [];
    group.push(file);
    groups.set(file.blob, group);
  }
  return groups;
}

async function* filesOf(
  blob: string,
  files: readonly ManifestFile[],
  blobs: Pick<BlobStore, 'open'>,
): AsyncGenerator<RestoredEntry> {
  const waiting = [...files].sort((a, b) => a.offset - b.offset);
  while (waiting.length > 0) {
    const again: ManifestFile[] = [];
    const pieces = new Pieces(await blobs.open(blob), blob);
    try {
      for (const file of waiting.splice(0)) {
        // Two files may have the same bytes.
        if (file.offset < pieces.position) again.push(file);
        else yield { entry: file, content: pieces.slice(file.offset, file.sizeBytes) };
      }
      await pieces.toEnd();
    } finally {
      pieces.close();
    }
    waiting.push(...again);
  }
}

/** A blob's bytes, taken in slices from front to back. */
class Pieces {
  position = 0;
  readonly #source: Readable;
  readonly #blob: string;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: Readable, blob: string) {
    this.#source = source;
    this.#blob = blob;
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async *slice(offset: number, size: number): AsyncGenerator<Uint8Array> {
    const skipped = this.#take(offset - this.position);
    for (let next = await skipped.next(); next.done !== true; next = await skipped.next());
    yield* this.#take(size);
  }

  /** Reads what is left: only the whole can be checked. @throws SkillmillError BLOB_CORRUPT */
  async toEnd(): Promise<void> {
    for (
      let next = await this.#chunks.next();
      next.done !== true;
      next = await this.#chunks.next()
    );
  }

  close(): void {
    this.#source.destroy();
  }

  async *#take(size: number): AsyncGenerator<Buffer> {
    let left = size;
    while (left > 0) {
      if (this.#rest.length === 0) this.#rest = await this.#nextChunk();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      this.position += piece.length;
      left -= piece.length;
      yield piece;
    }
  }

  async #nextChunk(): Promise<Buffer> {
    const next = await this.#chunks.next();
    if (next.done !== true) return next.value;
    const sentence = `The stored file ${this.#blob} ends too early; the session’s files cannot be put back.`;
    throw new SkillmillError('BLOB_CORRUPT', sentence);
  }
}
