import type { BlobKeeper } from '../blobs/blob-store.js';
import type { RedisClient } from '../redis/redis-client.js';
import { findReferences } from './find-references.js';
import { count, emptyCount, type GarbageCount, type GarbageReport } from './garbage-count.js';
import { collectSmallBlobs, listSmallBlobs } from './small-blobs.js';

export interface CollectOptions {
  readonly client: RedisClient;
  readonly keeper: BlobKeeper;
  /** Where the keeper keeps blobs, for people. */
  readonly place: string;
  /** This Redis's deployment: only the one that has claimed the store collects in it. */
  readonly deployment: string;
  readonly graceSeconds: number;
  /** How long a small blob is kept after it was last put or found in use. */
  readonly smallTtlSeconds: number;
  readonly dryRun?: boolean;
  /** Claim the store, whoever has it. */
  readonly takeOver?: boolean;
  readonly signal?: AbortSignal;
}

/** An upload may take its time, and a server tells only when it began. */
const unfinishedAfterMs = 86_400_000;

/**
 * Removes the blobs that nothing refers to and that were last put longer ago than the grace. All is fixed before anything is
 * removed: first the time, then what there is, then what is referred to; a fault before that is known removes nothing.
 * @throws SkillmillError REDIS_UNAVAILABLE, BLOB_UNAVAILABLE, INTERNAL for a record that cannot be understood
 */
export async function collectGarbage(options: CollectOptions): Promise<GarbageReport> {
  const { client, keeper, graceSeconds, dryRun = false } = options;
  const before = new Date(Date.now() - graceSeconds * 1000);
  const small = await listSmallBlobs(client);
  const references = await findReferences(client, options.signal);
  const [asked] = await Promise.allSettled([whyNotOurs(options)]);
  // Whatever becomes of the store: what is referred to must not expire while that is out of reach.
  const redis = await collectSmallBlobs(options, small, references);
  if (asked.status === 'rejected') throw asked.reason;
  const storeSkipped = asked.value;
  const store = storeSkipped === null ? await collectStore(options, references, before) : null;
  const abandoned = new Date(Math.min(before.getTime(), Date.now() - unfinishedAfterMs));
  const sweeps = storeSkipped === null && !dryRun;
  return {
    dryRun,
    references: references.size,
    store,
    storeSkipped,
    unfinished: sweeps ? await keeper.sweepUnfinished(abandoned) : 0,
    redis,
  };
}

/** Two deployments may use one store, and only the one that claimed it knows that it collects there. */
async function whyNotOurs(options: CollectOptions): Promise<string | null> {
  const { keeper, deployment, place, takeOver = false, dryRun = false } = options;
  if (takeOver && !dryRun) await keeper.claim(deployment, 'over');
  const owner = takeOver && dryRun ? deployment : await keeper.owner();
  if (owner === deployment) return null;
  const whose =
    owner === undefined
      ? 'no worker of this Redis has claimed it yet'
      : `it belongs to another deployment (${owner}), whose files would be lost`;
  return `Nothing was collected in ${place}: ${whose}. If only this Redis uses it now, run \`skillmill gc --take-over\`.`;
}

async function collectStore(
  { keeper, dryRun = false, signal }: CollectOptions,
  references: ReadonlySet<string>,
  before: Date,
): Promise<GarbageCount> {
  const counts = emptyCount();
  for await (const { sha256, sizeBytes, modifiedAt } of keeper.list()) {
    signal?.throwIfAborted();
    count(counts.seen, sizeBytes);
    const isGarbage = !references.has(sha256) && modifiedAt <= before;
    const goes = isGarbage && (dryRun || (await keeper.delete(sha256, before)));
    count(goes ? counts.removed : counts.kept, sizeBytes);
  }
  return counts;
}
