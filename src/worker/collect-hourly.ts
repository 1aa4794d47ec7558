import type { BlobKeeper } from '../shared/blobs/blob-store.js';
import { isSharedStore } from '../shared/blobs/shared-store-check.js';
import type { StoreConfig } from '../shared/config/config.js';
import { collectHere } from '../shared/garbage/collect-here.js';
import type { Logger } from '../shared/logging/logger.js';
import { deploymentId } from '../shared/redis/deployment.js';
import { collectorKey } from '../shared/redis/keys.js';
import type { RedisClient } from '../shared/redis/redis-client.js';

export interface HourlyCollection {
  readonly redis: RedisClient;
  readonly workerId: string;
  readonly store: StoreConfig;
  readonly blobs: BlobKeeper;
  readonly logger: Logger;
}

/** Collects garbage, unless a worker of this Redis has begun to within the hour. */
export async function collectHourly(
  { redis, workerId, store, blobs, logger }: HourlyCollection,
  signal: AbortSignal,
): Promise<void> {
  if ((await redis.set(collectorKey(), workerId, 'EX', 3600, 'NX')) === null) return;
  // The store may have been out of reach when this worker started.
  if (await isSharedStore(redis, blobs)) await blobs.claim(await deploymentId(redis), 'first');
  const report = await collectHere(redis, store, { signal });
  if (report.storeSkipped !== null) logger.log('warn', report.storeSkipped);
  logger.log('info', 'garbage collected', {
    removed: report.redis.removed.blobs + (report.store?.removed.blobs ?? 0),
    bytes: report.redis.removed.bytes + (report.store?.removed.bytes ?? 0),
  });
}
