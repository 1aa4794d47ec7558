import { randomUUID } from 'node:crypto';
import { deploymentKey } from './keys.js';
import { redisError, type RedisClient } from './redis-client.js';

/** The id of this Redis's deployment: what another one has made on the same host or in the same store is not ours to judge. */
export async function deploymentId(client: RedisClient): Promise<string> {
  try {
    await client.set(deploymentKey(), randomUUID(), 'NX');
    return (await client.get(deploymentKey())) ?? randomUUID();
  } catch (error) {
    throw redisError(error);
  }
}
