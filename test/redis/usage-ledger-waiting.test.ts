import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tenantBudgetKeys } from '../../src/shared/redis/keys.js';
import { dayOf } from '../../src/shared/usage/utc-day.js';
import { call, openLedger, patience, turnOf, used } from './ledger-desk.js';
import { tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const keys = () => tenantBudgetKeys(tenant, dayOf(Date.now()).slice(0, 7));
const refusal = (details: object) => ({ code: 'LIMIT_EXCEEDED', details });

describe('a call without an output limit', () => {
  const open = call({ maxOutputTokens: undefined });

  it('gets one only where a shared budget comes to its end', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 200_000 }, callOutputTokens: 100 });
    const first = await ledger.reserve(turnOf(), open, patience);
    expect(first.maxOutputTokens).toBeUndefined();
    const second = await ledger.reserve(turnOf(), open, patience);
    expect(second.maxOutputTokens).toBe(100);
    await second.settle(used(10, 100));
    await first.settle(used(10, 50_000));
    const third = await ledger.reserve(turnOf(), open, patience);
    expect(third.maxOutputTokens).toBeUndefined();
  });

  it('needs none where its turn’s calls are the only ones', async () => {
    const ledger = openLedger(redis.client, { turn: { tokens: 100 }, session: { tokens: 100 } });
    const reservation = await ledger.reserve(turnOf(), open, patience);
    expect(reservation.maxOutputTokens).toBeUndefined();
  });

  it('keeps its own', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 100 } });
    const reservation = await ledger.reserve(turnOf(), call({ maxOutputTokens: 9 }), patience);
    expect(reservation.maxOutputTokens).toBe(9);
  });
});

describe('a call that does not fit beside others', () => {
  it('waits for them, and goes on', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 30 } });
    const first = await ledger.reserve(turnOf('a'), call(), patience);
    let isIn = false;
    const second = ledger.reserve(turnOf('b'), call(), patience).then((got) => {
      isIn = true;
      return got;
    });
    await sleep(400);
    expect(isIn).toBe(false);
    await first.settle(used(10));
    await (await second).settle(used(10));
    expect(await redis.client.hget(keys().spent, 'tokens')).toBe('20');
  });

  it('waits no longer than its turn may', async () => {
    const ledger = openLedger(redis.client, { tenant: { tokens: 30 } });
    const first = await ledger.reserve(turnOf('a'), call(), patience);
    const cancelled = new Error('cancelled');
    const controller = new AbortController();
    const second = ledger.reserve(turnOf('b'), call(), controller.signal);
    setTimeout(() => controller.abort(cancelled), 200);
    await expect(second).rejects.toBe(cancelled);
    await first.release();
    expect(await redis.client.zcard(keys().calls)).toBe(0);
  });

  it('goes on when their worker is lost, and counts them as spent', async () => {
    const lost = openLedger(redis.client, { tenant: { tokens: 30 }, callLifetimeMs: 300 });
    await lost.reserve(turnOf('a'), call(), patience);
    const ledger = openLedger(redis.client, { tenant: { tokens: 30 } });
    await (await ledger.reserve(turnOf('b'), call(), patience)).settle(used(10));
    await expect(ledger.reserve(turnOf('b'), call(), patience)).rejects.toMatchObject(
      refusal({ spent: 30 }),
    );
  });

  it('is not kept by its own turn’s lost attempt', async () => {
    const ledger = openLedger(redis.client, { turn: { tokens: 30 } });
    const turn = turnOf();
    const lost = await ledger.reserve(turn, call(), patience);
    await (await ledger.reserve(turn, call(), patience)).settle(used(9));
    await expect(ledger.reserve(turn, call(), patience)).resolves.toBeDefined();
    // The attempt that was thought lost tells what it did cost.
    await lost.settle(used(1));
    await expect(ledger.reserve(turn, call(), patience)).rejects.toMatchObject(
      refusal({ spent: 30 }),
    );
  });
});
