import { describe, expect, it } from 'vitest';
import { usageKeys } from '../../src/shared/redis/keys.js';
import { callOf, day, OneBudget, sessionUsageTtl, usageTtl } from './one-budget.js';
import { dump, tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const held = { tokens: 500, microUsd: 50 };
const call = callOf('a', held, { tokens: 100, microUsd: 10 });
const nothing = { tokens: 0, microUsd: 0 };

describe('settle-call', () => {
  it('puts the cost in place of what was held', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call);
    await budget.reserve(callOf('b', held));
    expect(await budget.settle(call, { tokens: 30, microUsd: 3 })).toBe(1);
    expect(await budget.state()).toEqual({
      spent: { tokens: 30, microUsd: 3 },
      held,
      inFlight: 1,
      lost: 0,
    });
  });

  it.each([
    ['once', { tokens: 30, microUsd: 3 }],
    ['once, a release', nothing],
  ])('counts %s', async (_, cost) => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call);
    await budget.settle(call, cost);
    const before = await dump(redis.client);
    expect(await budget.settle(call, { tokens: 99, microUsd: 99 })).toBe(0);
    expect(await budget.settle(call, nothing)).toBe(0);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('changes nothing for a call that is not known', async () => {
    const budget = new OneBudget(redis.client);
    expect(await budget.settle(call, { tokens: 9, microUsd: 9 })).toBe(0);
    expect(await budget.settleWithUsage(call, nothing, [1])).toBe(0);
    expect(await redis.client.keys('*')).toEqual([]);
  });

  it.each([
    ['not yet counted as lost', false],
    ['counted as lost', true],
  ])('corrects a call past its time that is %s', async (_, isSwept) => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call);
    await budget.expire([call]);
    if (isSwept) await budget.reserve(callOf('b', nothing));
    expect(await budget.settle(call, { tokens: 30, microUsd: 3 })).toBe(1);
    const { spent, held: left, lost } = await budget.state();
    expect([spent, left, lost]).toEqual([{ tokens: 30, microUsd: 3 }, nothing, 0]);
  });

  it('takes back a lost call that is released', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call);
    await budget.expire([call]);
    await budget.reserve(callOf('b', nothing));
    expect((await budget.state()).spent).toEqual({ tokens: 100, microUsd: 10 });
    await budget.settle(call, nothing);
    expect((await budget.state()).spent).toEqual(nothing);
  });

  it('counts the usage by model and session in the same step, once', async () => {
    const budget = new OneBudget(redis.client);
    const counts = [1, 20, 5, 10, 3, 0, 1];
    for (const id of ['x', 'y']) {
      const one = callOf(id, held);
      await budget.reserve(one);
      await budget.settleWithUsage(one, { tokens: 30, microUsd: 3 }, counts);
      expect(await budget.settleWithUsage(one, { tokens: 30, microUsd: 3 }, counts)).toBe(0);
    }
    const { models, sessions } = usageKeys(tenant, day);
    expect(await redis.client.hgetall(models)).toEqual({ gpt: '2 40 10 20 6 0 2' });
    expect(await redis.client.hgetall(sessions)).toEqual({ 's1 gpt': '2 40 10 20 6 0 2' });
    expect(await redis.client.ttl(models)).toBeGreaterThan(usageTtl - 10);
    expect(await redis.client.ttl(sessions)).toBeGreaterThan(sessionUsageTtl - 10);
  });

  it('keeps large counts whole, and takes counts that a later version adds', async () => {
    const budget = new OneBudget(redis.client);
    const { models } = usageKeys(tenant, day);
    await redis.client.hset(models, 'gpt', '1 8999999999999999');
    await budget.reserve(call);
    await budget.settleWithUsage(call, nothing, [1, 1, 7]);
    expect(await redis.client.hget(models, 'gpt')).toBe('2 9000000000000000 7');
  });
});
