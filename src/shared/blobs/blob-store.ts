import type { Readable } from 'node:stream';

/** What a blob is known by. */
export interface BlobInfo {
  /** Hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A blob as its store lists it. */
export interface StoredBlob extends BlobInfo {
  /** When it was last put; a store may know it to the second only. */
  readonly modifiedAt: Date;
}

export type BlobSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Bytes kept under their SHA-256: never overwritten, visible only when whole, verified when read. */
export interface BlobStore {
  /**
   * Stores the bytes; the same bytes again cost no room, and count as put now.
   * @throws SkillmillError BLOB_UNAVAILABLE, REDIS_UNAVAILABLE; the signal's reason when it aborts
   */
  put(source: BlobSource, signal?: AbortSignal): Promise<BlobInfo>;
  /**
   * Opens a blob; the stream fails at its end with BLOB_CORRUPT when the bytes are not what the name says.
   * @throws SkillmillError BLOB_NOT_FOUND, BLOB_UNAVAILABLE
   */
  open(sha256: string): Promise<Readable>;
}

/** A store whose blobs can be gone through and removed: what a collector of garbage needs. */
export interface BlobKeeper extends BlobStore {
  /** Id of the place itself, the same for all who use it; made by the first one. */
  id(): Promise<string>;
  /** The deployment that collects garbage here; undefined as long as none has claimed the store. */
  owner(): Promise<string | undefined>;
  /** Claims the store for a deployment: if it is the `first`, or `over` whoever has it. */
  claim(deployment: string, how: 'first' | 'over'): Promise<void>;
  has(sha256: string): Promise<boolean>;
  list(): AsyncIterable<StoredBlob>;
  /** Removes a blob that was not put again since; false when it was, or is not there. */
  delete(sha256: string, ifUnmodifiedSince: Date): Promise<boolean>;
  /** Removes what puts that never ended left before this time; says how many. */
  sweepUnfinished(before: Date): Promise<number>;
  /** A URL that reads the blob without credentials; only where the store can make one. */
  signedUrl?(sha256: string, seconds: number): Promise<string>;
}
