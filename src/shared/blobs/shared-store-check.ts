import { blobFolderIdKey } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';

/** Workers say so again with each sign of life; a store that no worker uses any more makes room for another. */
const storeTtlSeconds = 600;

/**
 * Is this the blob store that the other clients and workers of this Redis use? The first comer's becomes the one
 * while it is in use; its id lies in the store and in Redis. False also when the store cannot be written.
 * @throws SkillmillError REDIS_UNAVAILABLE
 */
export async function isSharedStore(
  client: RedisClient,
  store: { id(): Promise<string> },
): Promise<boolean> {
  let id: string;
  try {
    id = await store.id();
  } catch {
    return false;
  }
  try {
    await client.set(blobFolderIdKey(), id, 'EX', storeTtlSeconds, 'NX');
    if ((await client.get(blobFolderIdKey())) !== id) return false;
    await client.expire(blobFolderIdKey(), storeTtlSeconds);
    return true;
  } catch (error) {
    throw redisError(error);
  }
}
