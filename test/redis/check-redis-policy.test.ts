import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { checkRedisPolicy } from '../../src/worker/check-redis-policy.js';
import type { Logger } from '../../src/shared/logging/logger.js';
import { startRedis } from '../support/redis-server.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

/** What the check logs as a warning. */
async function warnings(allowEviction = false, url = redis.url): Promise<string[]> {
  const said: string[] = [];
  const logger: Logger = {
    log(level, message) {
      if (level === 'warn') said.push(message);
    },
    child: () => logger,
  };
  const client = new Redis(url);
  try {
    await checkRedisPolicy(client, { allowEviction }, logger);
  } finally {
    client.disconnect();
  }
  return said;
}

async function setPolicy(policy: string): Promise<void> {
  await redis.client.config('SET', 'maxmemory-policy', policy);
  onTestFinished(async () => {
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
  });
}

it('has nothing against a Redis that keeps everything', async () => {
  expect(await warnings()).toEqual([]);
});

it.each(['allkeys-lru', 'volatile-lru', 'volatile-ttl'])('refuses %s', async (policy) => {
  await setPolicy(policy);
  await expect(warnings()).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(
      new RegExp(`${policy}.*CONFIG SET maxmemory-policy noeviction.*SKILLMILL_ALLOW_EVICTION`),
    ) as string,
  });
});

it('only warns of it when the operator puts up with it', async () => {
  await setPolicy('allkeys-lru');
  expect(await warnings(true)).toEqual([expect.stringContaining('allkeys-lru')]);
});

it('warns of a Redis that keeps nothing on disk', async () => {
  const forgetful = await startRedis(['--appendonly', 'no']);
  onTestFinished(() => forgetful.stop());
  expect(await warnings(false, forgetful.url)).toEqual([expect.stringContaining('append-only')]);
});

it('says that it could not check where CONFIG is forbidden', async () => {
  await redis.client.acl('SETUSER', 'guest', 'on', '>pw', '~*', '+@all', '-config');
  onTestFinished(async () => {
    await redis.client.acl('DELUSER', 'guest');
  });
  const url = redis.url.replace('redis://', 'redis://guest:pw@');
  expect(await warnings(false, url)).toEqual([expect.stringContaining('could not check')]);
});
