import type { Readable } from 'node:stream';

/** What a blob is known by. */
export interface BlobInfo {
  /** Hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

export type BlobSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Bytes kept under their SHA-256: never overwritten, visible only when whole, verified when read. */
export interface BlobStore {
  /** Stores the bytes; the same bytes again cost nothing. @throws SkillmillError BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
  put(source: BlobSource): Promise<BlobInfo>;
  /** Opens a blob; the stream fails at its end when the bytes are not what the name says. @throws SkillmillError BLOB_UNAVAILABLE */
  open(sha256: string): Promise<Readable>;
}
