import { workerKey } from '../shared/redis/keys.js';
import type { RedisClient } from '../shared/redis/redis-client.js';

const beatTtlSeconds = 30;

/** Says that this worker lives; its sandboxes are nobody else's to remove while it does. */
export async function beat(client: RedisClient, workerId: string): Promise<void> {
  await client.set(workerKey(workerId), Date.now(), 'EX', beatTtlSeconds);
}

/** Takes the sign of life away. */
export async function leave(client: RedisClient, workerId: string): Promise<void> {
  await client.del(workerKey(workerId));
}

/** Does this worker live? */
export async function isWorkerAlive(client: RedisClient, workerId: string): Promise<boolean> {
  return (await client.exists(workerKey(workerId))) === 1;
}
