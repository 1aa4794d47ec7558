import { blobPlace, openBlobKeeper, smallBlobTtl } from '../blobs/open-blob-store.js';
import type { StoreConfig } from '../config/config.js';
import { deploymentId } from '../redis/deployment.js';
import type { RedisClient } from '../redis/redis-client.js';
import { collectGarbage, type CollectOptions } from './collect-garbage.js';
import type { GarbageReport } from './garbage-count.js';

const defaultGraceSeconds = 3600;

/** What of a collection a caller may choose. */
export type CollectChoice = Partial<
  Pick<CollectOptions, 'graceSeconds' | 'dryRun' | 'takeOver' | 'signal'>
>;

/** Collects the garbage of this configuration's Redis and store. @throws what `collectGarbage` throws */
export async function collectHere(
  client: RedisClient,
  config: StoreConfig,
  choice: CollectChoice = {},
): Promise<GarbageReport> {
  return collectGarbage({
    client,
    keeper: openBlobKeeper(config),
    place: blobPlace(config),
    deployment: await deploymentId(client),
    graceSeconds: config.gcGraceSeconds ?? defaultGraceSeconds,
    smallTtlSeconds: smallBlobTtl(config),
    ...choice,
  });
}
