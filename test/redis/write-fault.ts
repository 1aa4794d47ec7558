import { expect } from 'vitest';
import { SkillmillError } from '../../src/shared/errors/skillmill-error.js';
import { redisError, type RedisClient } from '../../src/shared/redis/redis-client.js';

/** How a client's write ends: in one error of ours, which says what to do. */
export async function writeFault(client: RedisClient): Promise<SkillmillError> {
  const error: unknown = await client.set('fails', 'x').then(
    () => new Error('it was written'),
    (thrown: unknown) => redisError(thrown),
  );
  if (!(error instanceof SkillmillError)) throw error;
  expect(error.code).toBe('REDIS_UNAVAILABLE');
  expect(error.message).not.toContain('\n');
  expect(error.message).not.toContain('script:');
  return error;
}
