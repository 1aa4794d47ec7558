import { expect, it, describe } from 'vitest';
import { tenantBudgetKeys, usageKeys } from '../../src/shared/redis/keys.js';
import { countCallScript } from '../../src/shared/redis/scripts/count-call.js';
import { reserveCallScript } from '../../src/shared/redis/scripts/reserve-call.js';
import { callOf, day, sessionUsageTtl, ttl, usageTtl } from './one-budget.js';
import { dump, tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const { spent, calls } = tenantBudgetKeys(tenant, 'total');
const { models, sessions } = usageKeys(tenant, day);

const count = (id: string, tokens = 30) =>
  countCallScript.run(
    redis.client,
    [spent, calls, models, sessions],
    [id, tokens, 3, ttl, 'gpt', 's1 gpt', usageTtl, sessionUsageTtl, 1, tokens],
  );

describe('count-call', () => {
  it('counts in the spending and in the usage of the day', async () => {
    expect(await count('a')).toBe(1);
    expect(await count('b', 12)).toBe(1);
    expect(await redis.client.hgetall(spent)).toEqual({ tokens: '42', microUsd: '6' });
    expect(await redis.client.hgetall(models)).toEqual({ gpt: '2 42' });
    expect(await redis.client.hgetall(sessions)).toEqual({ 's1 gpt': '2 42' });
    const lives = [spent, calls, models, sessions].map((key) => redis.client.ttl(key));
    expect(await Promise.all(lives)).toEqual([ttl, ttl, usageTtl, sessionUsageTtl]);
  });

  it('counts a call once, however often it is told', async () => {
    await count('a');
    const before = await dump(redis.client);
    expect(await count('a', 99)).toBe(0);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('is no call in flight to a budget that is set later', async () => {
    await count('a');
    const call = callOf('b', { tokens: 70, microUsd: 0 });
    const { outcome } = await reserveCallScript.run(
      redis.client,
      [spent, calls],
      [call, 1000, ttl, 1, 1, 100, ''],
    );
    expect(outcome).toBe('reserved');
    expect(await redis.client.hget(spent, 'tokens')).toBe('30');
  });

  it('remembers a call for a minute, and leaves those that were lost', async () => {
    const longAgo = -(Date.now() - 61_000);
    const lost = callOf('lost', { tokens: 1, microUsd: 1 });
    await redis.client.zadd(calls, longAgo, 'old', longAgo, lost, -Date.now(), 'young');
    await count('a');
    expect((await redis.client.zrange(calls, 0, -1)).toSorted()).toEqual(
      ['a', lost, 'young'].toSorted(),
    );
  });
});
