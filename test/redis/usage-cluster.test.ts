import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionTag } from '../../src/shared/contracts/index.js';
import {
  batchBudgetKeys,
  sessionBudgetKeys,
  tenantBudgetKeys,
  turnBudgetKeys,
} from '../../src/shared/redis/keys.js';
import {
  closeRedis,
  connectRedis,
  requireRedis,
  type RedisClient,
} from '../../src/shared/redis/redis-client.js';
import { dayOf } from '../../src/shared/usage/utc-day.js';
import { readUsage } from '../../src/shared/usage/usage-report.js';
import { startRedisCluster, type TestCluster } from '../support/redis-cluster.js';
import { call, openLedger, patience, turnOf, used } from './ledger-desk.js';
import { tenant } from './session-line.js';

let cluster: TestCluster;
let client: RedisClient;
beforeAll(async () => {
  cluster = await startRedisCluster();
  client = connectRedis(cluster.urls, 'worker');
  await requireRedis(client, cluster.urls);
});
afterAll(async () => {
  closeRedis(client);
  await cluster.stop();
});

describe('on a Redis Cluster of three nodes', () => {
  it('a call counts in every budget, wherever that lies, and in the report', async () => {
    const ledger = openLedger(client, {
      turn: { tokens: 1000 },
      session: { tokens: 1000 },
      batch: { usd: 1 },
      tenant: { tokens: 600, usd: 1 },
    });
    // Sessions and batches enough to lie on every node.
    const turns = Array.from({ length: 20 }, (_, n) => turnOf(`s${n}`, { batchId: `b${n}` }));
    await Promise.all(
      turns.map(async (turn) => {
        await (await ledger.reserve(turn, call(), patience)).settle(used(10, 5));
      }),
    );
    for (const { turnId, sessionId, batchId = '' } of turns) {
      const keys = [
        turnBudgetKeys(tenant, turnId),
        sessionBudgetKeys(tenant, sessionTag(tenant, sessionId)),
        batchBudgetKeys(tenant, batchId),
      ];
      for (const { spent } of keys) expect(await client.hget(spent, 'tokens')).toBe('15');
    }
    const { spent } = tenantBudgetKeys(tenant, dayOf(Date.now()).slice(0, 7));
    expect(await client.hget(spent, 'tokens')).toBe('300');
    for (const by of ['model', 'session', 'tenant'] as const) {
      const { total } = await readUsage(client, tenant, { by });
      expect(total).toMatchObject({ modelCalls: 20, inputTokens: 200, costUsd: 0.0004 });
    }
  });

  it('a refusal leaves nothing held on the other nodes', async () => {
    const ledger = openLedger(client, { session: { tokens: 100 }, batch: { tokens: 100 } });
    const spender = turnOf('spender', { batchId: 'spent' });
    await (await ledger.reserve(spender, call(), patience)).settle(used(100));
    const turn = turnOf('other', { batchId: 'spent' });
    await expect(ledger.reserve(turn, call(), patience)).rejects.toMatchObject({
      details: { scope: 'batch' },
    });
    const { calls, spent } = sessionBudgetKeys(tenant, sessionTag(tenant, turn.sessionId));
    expect(await client.zcard(calls)).toBe(0);
    expect(await client.hget(spent, 'held:tokens')).toBe('0');
  });
});
