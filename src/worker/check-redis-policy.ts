import { z } from 'zod';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import type { Logger } from '../shared/logging/logger.js';
import type { RedisClient } from '../shared/redis/redis-client.js';

/**
 * Refuses a Redis that may throw keys away: a queue that loses any of them loses turns. A provider that forbids
 * CONFIG cannot be asked; then there is only a warning.
 * @throws SkillmillError CONFIG_INVALID
 */
export async function checkRedisPolicy(client: RedisClient, logger: Logger): Promise<void> {
  let policy: string | undefined;
  try {
    const reply = z.array(z.string()).parse(await client.config('GET', 'maxmemory-policy'));
    policy = reply[1];
  } catch {
    logger.log('warn', 'could not check Redis’ maxmemory-policy; it must be noeviction');
    return;
  }
  if (policy === undefined || policy === 'noeviction') return;
  throw new SkillmillError(
    'CONFIG_INVALID',
    `Redis has maxmemory-policy ${policy}, so it may throw turns away. Set it to noeviction: redis-cli CONFIG SET maxmemory-policy noeviction.`,
  );
}
