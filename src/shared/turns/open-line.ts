import { openSharedStore } from '../blobs/open-blob-store.js';
import type { StoreConfig } from '../config/config.js';
import type { TurnId } from '../contracts/index.js';
import type { TurnQueue } from '../queue/turn-queue.js';
import type { RedisClient } from '../redis/redis-client.js';
import { cancelTurn, type CancelOutcome } from './cancel-turn.js';
import type { EnqueueContext } from './enqueue-turn.js';

/** What enqueueing takes; one that is asked to make way is cancelled. */
export interface OpenLine extends EnqueueContext {
  readonly interrupt: (turnId: TurnId) => Promise<CancelOutcome>;
}

/** Fits together what enqueueing for the configuration's tenant takes. */
export function openLine(client: RedisClient, queue: TurnQueue, config: StoreConfig): OpenLine {
  const { tenant } = config;
  const line = { client, queue, tenant, config, blobs: openSharedStore(client, config) };
  return { ...line, interrupt: (turnId) => cancelTurn(line, turnId) };
}
