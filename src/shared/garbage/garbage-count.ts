/** Blobs and their bytes together. */
interface BlobCount {
  blobs: number;
  bytes: number;
}

/** What was found in one place; what is young or referred to is kept. */
export interface GarbageCount {
  readonly seen: BlobCount;
  readonly kept: BlobCount;
  readonly removed: BlobCount;
}

/** What a collection found and did. */
export interface GarbageReport {
  readonly dryRun: boolean;
  /** Blobs that something refers to. */
  readonly references: number;
  /** The bucket or the data folder; null where nothing was looked at. */
  readonly store: GarbageCount | null;
  /** Why nothing was collected in the store. */
  readonly storeSkipped: string | null;
  /** What uploads that never ended had left in the store. */
  readonly unfinished: number;
  /** Small blobs. */
  readonly redis: GarbageCount;
}

/** Nothing seen yet. */
export const emptyCount = (): GarbageCount => ({
  seen: { blobs: 0, bytes: 0 },
  kept: { blobs: 0, bytes: 0 },
  removed: { blobs: 0, bytes: 0 },
});

/** Counts one blob. */
export function count(into: BlobCount, bytes: number): void {
  into.blobs += 1;
  into.bytes += bytes;
}
