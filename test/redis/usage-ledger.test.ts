import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { batchBudgetKeys, tenantBudgetKeys } from '../../src/shared/redis/keys.js';
import { dayOf } from '../../src/shared/usage/utc-day.js';
import { eventually } from '../support/eventually.js';
import { call, openLedger, patience, turnOf, used } from './ledger-desk.js';
import { tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const today = () => dayOf(Date.now());
const refusal = (details: object) => ({ code: 'LIMIT_EXCEEDED', details });
/** What clients send meanwhile, without what scripts call. */
async function commandsDuring(client: Redis, work: () => Promise<void>): Promise<string[]> {
  const sent: string[] = [];
  const monitor = await client.monitor();
  monitor.on('monitor', (_time: string, [command = '']: string[], source: string) => {
    if (source !== 'lua') sent.push(command.toLowerCase());
  });
  await work();
  await client.echo('the end');
  await eventually('the end', () => (sent.at(-1) === 'echo' ? true : undefined));
  monitor.disconnect();
  return sent.slice(0, -1);
}
const sum = async (key: string) => Number((await redis.client.hget(key, 'tokens')) ?? 0);

describe('a reservation', () => {
  it('is settled once, in money and tokens', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 1000 } });
    const reservation = await ledger.reserve(turnOf(), call(), patience);
    const spent = { inputTokens: 10, cachedInputTokens: 4, outputTokens: 5 };
    expect(await reservation.settle(spent)).toBe(0.000018);
    expect(await reservation.settle(used(99))).toBe(0.000018);
    await reservation.release();
    const keys = tenantBudgetKeys(tenant, today().slice(0, 7));
    expect(await redis.client.hgetall(keys.spent)).toEqual({
      tokens: '15',
      microUsd: '18',
      'held:tokens': '0',
      'held:microUsd': '0',
    });
  });

  it('that is released counts nothing', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 100 } });
    const reservation = await ledger.reserve(turnOf(), call(), patience);
    await reservation.release();
    expect(await reservation.settle(used(10))).toBeUndefined();
    expect(await sum(tenantBudgetKeys(tenant, today().slice(0, 7)).spent)).toBe(0);
    expect(await redis.client.keys('*usage:2*')).toEqual([]);
  });

  it('of a model without a price costs tokens only', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 100 } });
    const reservation = await ledger.reserve(turnOf(), call({ model: 'llama' }), patience);
    expect(await reservation.settle(used(10))).toBeUndefined();
  });

  it('that the connection loses is tried again by whoever settles it', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 100 } });
    const reservation = await ledger.reserve(turnOf(), call(), patience);
    const key = tenantBudgetKeys(tenant, today().slice(0, 7)).calls;
    await redis.client.rename(key, 'aside');
    await redis.client.set(key, 'no sorted set');
    await expect(reservation.settle(used(10))).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
    });
    await redis.client.rename('aside', key);
    await reservation.settle(used(10));
    expect(await sum(tenantBudgetKeys(tenant, today().slice(0, 7)).spent)).toBe(10);
  });
});

describe('a call that no budget limits', () => {
  it('counts once, when it is settled', async () => {
    const ledger = openLedger(redis.client);
    const reservation = await ledger.reserve(turnOf(), call(), patience);
    const { spent, calls } = tenantBudgetKeys(tenant, today().slice(0, 7));
    expect(await redis.client.exists(spent, calls), 'nothing is held for it').toBe(0);
    expect(reservation.maxOutputTokens).toBe(10);
    expect(await reservation.settle(used(10, 5))).toBe(0.00002);
    expect(await reservation.settle(used(99))).toBe(0.00002);
    await reservation.release();
    expect(await redis.client.hgetall(spent)).toEqual({ tokens: '15', microUsd: '20' });
  });

  it('counts nothing when it is released', async () => {
    const reservation = await openLedger(redis.client).reserve(turnOf(), call(), patience);
    await reservation.release();
    expect(await reservation.settle(used(10))).toBeUndefined();
    const { spent, calls } = tenantBudgetKeys(tenant, today().slice(0, 7));
    expect(await redis.client.exists(spent, calls)).toBe(0);
  });

  it('takes one command, and a worker’s first one some more', async () => {
    const ledger = openLedger(redis.client);
    const one = async () => {
      const reservation = await ledger.reserve(turnOf(), call(), patience);
      await reservation.settle(used(10));
    };
    await one();
    const sent = await commandsDuring(redis.client, one);
    expect(sent).toEqual(['evalsha']);
  });
});

describe('a budget', () => {
  it.each([
    ['turn', { turn: { tokens: 30 } }, {}],
    ['session', { session: { tokens: 30 } }, {}],
    ['batch', { batch: { tokens: 30 } }, { batchId: 'nightly' }],
    ['tenant', { tenant: { tokens: 30 } }, {}],
  ] as const)(
    'of a %s is used up, passed by one call, and then refuses',
    async (scope, budgets, more) => {
      const ledger = openLedger(redis.client, budgets);
      const turn = turnOf('s1', more);
      for (const cost of [20, 5, 20]) {
        await (await ledger.reserve(turn, call(), patience)).settle(used(cost));
      }
      await expect(ledger.reserve(turn, call(), patience)).rejects.toMatchObject(
        refusal({ limit: 'budget', scope, unit: 'tokens', budget: 30, spent: 45 }),
      );
    },
  );

  it('in USD refuses in USD', async () => {
    const ledger = openLedger(redis.client, { session: { usd: 0.00002 } });
    const turn = turnOf();
    await (await ledger.reserve(turn, call(), patience)).settle(used(4, 8));
    const refused = ledger.reserve(turn, call(), patience);
    await expect(refused).rejects.toMatchObject(
      refusal({ limit: 'budget', scope: 'session', unit: 'usd', budget: 0.00002, spent: 0.00002 }),
    );
    await expect(refused).rejects.toThrow(/budgets\.session/);
  });

  it('in USD refuses a model without a price', async () => {
    const ledger = openLedger(redis.client, { batch: { usd: 1 } });
    const llama = call({ model: 'llama' });
    await (await ledger.reserve(turnOf(), llama, patience)).release();
    await expect(
      ledger.reserve(turnOf('s', { batchId: 'b' }), llama, patience),
    ).rejects.toMatchObject(
      refusal({ limit: 'price', scope: 'batch', unit: 'usd', model: 'llama' }),
    );
    const limits = { maxCostUsd: 1 };
    await expect(ledger.reserve(turnOf('s', { limits }), llama, patience)).rejects.toMatchObject(
      refusal({ limit: 'price', scope: 'turn', unit: 'usd', model: 'llama' }),
    );
  });

  it.each([
    [{ maxTotalTokens: 5 }, { limit: 'maxTotalTokens', unit: 'tokens', budget: 5, spent: 10 }],
    [
      { maxCostUsd: 0.000005 },
      { limit: 'maxCostUsd', unit: 'usd', budget: 0.000005, spent: 0.00001 },
    ],
    [
      { maxTotalTokens: 99, maxCostUsd: 1 },
      { limit: 'budget', unit: 'tokens', budget: 60, spent: 70 },
    ],
  ])('of a turn is the lower of the operator’s and the request’s: %j', async (limits, expected) => {
    const ledger = openLedger(redis.client, { turn: { tokens: 60 } });
    const turn = turnOf('s1', { limits });
    const first = await ledger.reserve(turn, call(), patience);
    await first.settle(used(expected.spent > 1 ? expected.spent : 10));
    await expect(ledger.reserve(turn, call(), patience)).rejects.toMatchObject(
      refusal({ scope: 'turn', ...expected }),
    );
    await (await ledger.reserve(turnOf('s1', { limits }), call(), patience)).release();
  });

  it('holds for its own tenant, session, batch and turn only', async () => {
    const ledger = openLedger(redis.client, {
      turn: { tokens: 10 },
      session: { tokens: 30 },
      batch: { tokens: 40 },
      tenant: { tokens: 50 },
    });
    const spend = async (session: string, batchId: string) => {
      await (await ledger.reserve(turnOf(session, { batchId }), call(), patience)).settle(used(10));
    };
    for (const session of ['a', 'a', 'a', 'b']) await spend(session, 'one');
    await expect(spend('a', 'two')).rejects.toMatchObject(refusal({ scope: 'session' }));
    await expect(spend('b', 'one')).rejects.toMatchObject(refusal({ scope: 'batch' }));
    await spend('b', 'two');
    await expect(spend('b', 'two')).rejects.toMatchObject(refusal({ scope: 'tenant' }));
  });

  it('that refuses leaves nothing held in the others', async () => {
    const ledger = openLedger(redis.client, { batch: { tokens: 20 }, tenant: { tokens: 20 } });
    await (await ledger.reserve(turnOf(), call(), patience)).settle(used(20));
    const turn = turnOf('s2', { batchId: 'b' });
    await expect(ledger.reserve(turn, call(), patience)).rejects.toMatchObject(
      refusal({ scope: 'tenant' }),
    );
    expect(await redis.client.zcard(batchBudgetKeys(tenant, 'b').calls)).toBe(0);
    const held = await redis.client.hget(batchBudgetKeys(tenant, 'b').spent, 'held:tokens');
    expect(held).toBe('0');
  });

  it.each([
    ['day', today()],
    ['month', today().slice(0, 7)],
    ['total', 'total'],
  ] as const)('of a tenant is counted per %s', async (per, period) => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 100, per } });
    await (await ledger.reserve(turnOf(), call(), patience)).settle(used(7));
    expect(await sum(tenantBudgetKeys(tenant, period).spent)).toBe(7);
  });

  it('of a tenant counts from the first day, though it is set later', async () => {
    await (await openLedger(redis.client).reserve(turnOf(), call(), patience)).settle(used(50));
    const ledger = openLedger(redis.client, { tenant: { tokens: 50 } });
    await expect(ledger.reserve(turnOf(), call(), patience)).rejects.toMatchObject(
      refusal({ scope: 'tenant', spent: 50 }),
    );
  });

  it('knows whether it limits a turn', () => {
    const ledger = openLedger(redis.client, { batch: { tokens: 1 } });
    expect(ledger.isLimited(turnOf())).toBe(false);
    expect(ledger.isLimited(turnOf('s', { batchId: 'b' }))).toBe(true);
    expect(ledger.isLimited(turnOf('s', { limits: { maxCostUsd: 1 } }))).toBe(true);
    expect(ledger.isLimited(turnOf('s', { limits: { maxToolCalls: 1 } }))).toBe(false);
  });
});
