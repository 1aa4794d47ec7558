import { describe, expect, it } from 'vitest';
import { callOf, OneBudget, ttl } from './one-budget.js';
import { dump } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const call = (id: string, tokens = 100, microUsd = 10) => callOf(id, { tokens, microUsd });
const reserved = { outcome: 'reserved', unit: '', spent: 0 };

describe('reserve-call', () => {
  it('holds what fits, and lets the rest wait', async () => {
    const budget = new OneBudget(redis.client);
    expect(await budget.reserve(call('a'), { tokens: 250 })).toEqual(reserved);
    expect(await budget.reserve(call('b'), { tokens: 250 })).toEqual(reserved);
    const before = await dump(redis.client);
    expect(await budget.reserve(call('c'), { tokens: 250 })).toEqual({
      outcome: 'busy',
      unit: 'tokens',
      spent: 0,
    });
    expect(await dump(redis.client)).toEqual(before);
    expect(await budget.state()).toMatchObject({
      held: { tokens: 200, microUsd: 20 },
      inFlight: 2,
    });
    expect(await budget.reserve(call('d', 50), { tokens: 250 })).toEqual(reserved);
  });

  it('lets the only call pass the budget while something is left of it', async () => {
    const budget = new OneBudget(redis.client);
    expect(await budget.reserve(call('a', 900), { tokens: 250 })).toMatchObject({
      outcome: 'reserved',
      unit: 'tokens',
    });
    expect((await budget.reserve(call('b', 1), { tokens: 250 })).outcome).toBe('busy');
    await budget.settle(call('a', 900), { tokens: 249, microUsd: 0 });
    expect((await budget.reserve(call('b', 900), { tokens: 250 })).outcome).toBe('reserved');
    await budget.settle(call('b', 900), { tokens: 900, microUsd: 0 });
    const before = await dump(redis.client);
    expect(await budget.reserve(call('c', 1), { tokens: 250 })).toEqual({
      outcome: 'spent',
      unit: 'tokens',
      spent: 1149,
    });
    expect(await dump(redis.client)).toEqual(before);
  });

  it('does not let it pass when it must fit', async () => {
    const budget = new OneBudget(redis.client);
    const strict = { tokens: 250, strict: true };
    expect((await budget.reserve(call('a', 251), strict)).outcome).toBe('busy');
    expect((await budget.reserve(call('a', 250), strict)).outcome).toBe('reserved');
  });

  it('is used up to the last token and no further', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call('a', 250), { tokens: 250 });
    await budget.settle(call('a', 250), { tokens: 250, microUsd: 0 });
    expect((await budget.reserve(call('b', 1), { tokens: 250 })).outcome).toBe('spent');
    expect((await budget.reserve(call('b', 1), { tokens: 251 })).outcome).toBe('reserved');
  });

  it('keeps tokens and money apart, and both', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call('a', 100, 10), { microUsd: 15 });
    expect(await budget.reserve(call('b', 1, 10), { microUsd: 15 })).toMatchObject({
      outcome: 'busy',
      unit: 'microUsd',
    });
    expect((await budget.reserve(call('b', 1, 10), { tokens: 1000 })).outcome).toBe('reserved');
    await budget.settle(call('a', 100, 10), { tokens: 1, microUsd: 15 });
    expect(await budget.reserve(call('c', 1, 0), { tokens: 1000, microUsd: 15 })).toEqual({
      outcome: 'spent',
      unit: 'microUsd',
      spent: 15,
    });
  });

  it('has no limit without a budget, and counts all the same', async () => {
    const budget = new OneBudget(redis.client);
    const much = 9e14;
    expect((await budget.reserve(call('a', much))).outcome).toBe('reserved');
    expect((await budget.reserve(call('b', 0, 0))).outcome).toBe('reserved');
    await budget.settle(call('a', much), { tokens: much, microUsd: much });
    const spent = { tokens: much, microUsd: much };
    expect(await budget.state()).toMatchObject({ spent, held: { tokens: 0, microUsd: 0 } });
  });

  it('holds a call once, however often it is asked', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call('a', 200), { tokens: 250 });
    const before = await dump(redis.client);
    expect(await budget.reserve(call('a', 200), { tokens: 250 })).toEqual(reserved);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('sets the expiry of what it writes', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call('a'));
    for (const key of [budget.keys.spent, budget.keys.calls]) {
      expect(await redis.client.ttl(key)).toBeGreaterThan(ttl - 10);
    }
  });

  it('works when Redis has forgotten its scripts', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(call('a'));
    await redis.client.script('FLUSH');
    expect((await budget.reserve(call('b'))).outcome).toBe('reserved');
  });
});

describe('a call that is lost', () => {
  const lost = callOf('lost', { tokens: 500, microUsd: 50 }, { tokens: 100, microUsd: 10 });

  it('counts as spent after its time, and stands in nobody’s way', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(lost, { tokens: 500 });
    expect((await budget.reserve(call('b'), { tokens: 500 })).outcome).toBe('busy');
    await budget.expire([lost]);
    expect((await budget.reserve(call('b', 400, 7), { tokens: 500 })).outcome).toBe('reserved');
    expect(await budget.state()).toEqual({
      spent: { tokens: 100, microUsd: 10 },
      held: { tokens: 400, microUsd: 7 },
      inFlight: 1,
      lost: 1,
    });
    // Only once.
    expect((await budget.reserve(call('c', 1), { tokens: 500 })).outcome).toBe('busy');
    expect((await budget.state()).spent.tokens).toBe(100);
  });

  it('uses up a budget', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(lost, { tokens: 500 });
    await budget.expire([lost]);
    expect(await budget.reserve(call('b', 1), { tokens: 100 })).toMatchObject({
      outcome: 'spent',
      spent: 100,
    });
  });

  it('is known at once where calls never run beside each other', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(lost, { tokens: 500, serial: true });
    const next = { tokens: 500, serial: true };
    expect((await budget.reserve(call('b', 300), next)).outcome).toBe('reserved');
    expect(await budget.state()).toMatchObject({ spent: { tokens: 100 }, inFlight: 1, lost: 1 });
  });

  it('is forgotten a day later, and stays spent', async () => {
    const budget = new OneBudget(redis.client);
    await budget.reserve(lost);
    await budget.expire([lost], 86_400_000 - 60_000);
    await budget.reserve(call('b'));
    expect(await budget.state()).toMatchObject({ spent: { tokens: 100 }, lost: 1 });
    await redis.client.zadd(budget.keys.calls, 'XX', -(Date.now() - 86_400_001), lost);
    await budget.reserve(call('c'));
    expect(await budget.state()).toMatchObject({ spent: { tokens: 100 }, lost: 0, inFlight: 2 });
    expect(await budget.settle(lost, { tokens: 1, microUsd: 1 })).toBe(0);
  });
});
