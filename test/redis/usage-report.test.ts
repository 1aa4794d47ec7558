import { describe, expect, it } from 'vitest';
import { tenantSchema, turnResultSchema, type Tenant } from '../../src/shared/contracts/index.js';
import { usageKeys, usageTenantsKey } from '../../src/shared/redis/keys.js';
import { dayMs, dayOf, usageTtlSeconds } from '../../src/shared/usage/utc-day.js';
import { readUsage } from '../../src/shared/usage/usage-report.js';
import { call, openLedger, patience, turnOf, used } from './ledger-desk.js';
import { tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const beta = tenantSchema.parse('beta');
const today = () => dayOf(Date.now());

/** One call of a session. */
async function spend(session: string, model: string, input: number, whose: Tenant = tenant) {
  const ledger = openLedger(redis.client);
  const turn = turnOf(session, { tenant: whose });
  const reservation = await ledger.reserve(turn, call({ model }), patience);
  const isEstimated = model === 'llama';
  await reservation.settle({ ...used(input, 1), cachedInputTokens: 2, estimated: isEstimated });
}

const read = (query: unknown) => readUsage(redis.client, tenant, query);
const names = async (query: unknown) => (await read(query)).rows.map((row) => row.name);

describe('a usage report', () => {
  it('adds up model calls by model', async () => {
    await spend('a', 'gpt', 10);
    await spend('b', 'gpt', 20);
    await spend('b', 'llama', 100);
    await spend('b', 'gpt', 1000, beta);
    const gpt = {
      ...{ name: 'gpt', modelCalls: 2, inputTokens: 30, cachedInputTokens: 4, outputTokens: 2 },
      ...{ costUsd: 0.000032, unpricedCalls: 0, estimatedCalls: 0 },
    };
    const llama = {
      ...{ name: 'llama', modelCalls: 1, inputTokens: 100, cachedInputTokens: 2, outputTokens: 1 },
      ...{ costUsd: null, unpricedCalls: 1, estimatedCalls: 1 },
    };
    const since = dayOf(Date.now() - 29 * dayMs);
    expect(await read({})).toEqual({
      ...{ by: 'model', since, until: today(), rows: [llama, gpt] },
      total: {
        ...{ name: 'total', modelCalls: 3, inputTokens: 130, cachedInputTokens: 6 },
        ...{ outputTokens: 3, costUsd: 0.000032, unpricedCalls: 1, estimatedCalls: 1 },
      },
    });
  });

  it('adds up by session, and one session by model', async () => {
    await spend('a', 'gpt', 10);
    await spend('a.b', 'gpt', 20);
    await spend('a.b', 'llama 3 instruct', 5);
    expect(await read({ by: 'session' })).toMatchObject({
      rows: [
        { name: 'a.b', modelCalls: 2, inputTokens: 25, unpricedCalls: 1 },
        { name: 'a', modelCalls: 1, inputTokens: 10 },
      ],
    });
    expect(await names({ by: 'session', sessionId: 'a' })).toEqual(['a']);
    expect(await names({ sessionId: 'a.b' })).toEqual(['gpt', 'llama 3 instruct']);
    expect(await read({ sessionId: 'none' })).toMatchObject({ rows: [], total: { costUsd: 0 } });
  });

  it('adds up by tenant, all of them or one', async () => {
    await spend('a', 'gpt', 10);
    await spend('a', 'llama', 10, beta);
    await spend('b', 'gpt', 20, beta);
    expect(await read({ by: 'tenant' })).toMatchObject({
      rows: [
        { name: 'beta', modelCalls: 2, inputTokens: 30, unpricedCalls: 1 },
        { name: 'acme', modelCalls: 1, inputTokens: 10 },
      ],
      total: { modelCalls: 3 },
    });
    expect(await names({ by: 'tenant', tenant: 'beta' })).toEqual(['beta']);
    expect(await names({ tenant: 'beta' })).toEqual(['gpt', 'llama']);
    expect(await redis.client.ttl(usageTenantsKey())).toBeGreaterThan(usageTtlSeconds - 10);
  });

  it('counts a turn for each skill that it used, once, and gives no total', async () => {
    const ledger = openLedger(redis.client);
    const { turnId, sessionId } = turnOf();
    const result = turnResultSchema.parse({
      ...{ turnId, sessionId, status: 'completed', output: '', error: null, toolCalls: [] },
      ...{ artifacts: [], attempts: 1, metadata: {} },
      timings: { queuedMs: 0, modelMs: 0, toolMs: 0, totalMs: 0 },
      usage: {
        ...{ modelCalls: 2, toolCalls: 1, inputTokens: 30, cachedInputTokens: 4 },
        ...{ outputTokens: 5, costUsd: 0.1, estimated: true },
      },
      skills: ['pdf', 'csv'].map((name) => ({ name, digest: 'd' })),
    });
    await ledger.countSkills(tenant, result);
    await ledger.countSkills(tenant, result);
    await ledger.countSkills(tenant, { ...result, turnId: turnOf().turnId, skills: [] });
    const row = {
      ...{ modelCalls: 2, inputTokens: 30, cachedInputTokens: 4, outputTokens: 5 },
      ...{ costUsd: 0.1, unpricedCalls: 0, estimatedCalls: 2 },
    };
    const report = await read({ by: 'skill' });
    expect(report.rows).toEqual(['csv', 'pdf'].map((name) => ({ name, ...row })));
    expect(report.total).toBeNull();
  });

  it('is of the days that are asked for, both included', async () => {
    for (const day of ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']) {
      await redis.client.hset(usageKeys(tenant, day).models, day, '1 5');
    }
    const days = { since: '2026-02-28', until: '2026-03-01' };
    expect(await names(days)).toEqual(['2026-02-28', '2026-03-01']);
    expect(await names({ until: '2026-02-27' })).toEqual(['2026-02-27']);
    expect((await read({ until: '2026-02-27' })).since).toBe('2026-01-29');
  });

  it('takes what is too much for one page', async () => {
    const fields = Array.from({ length: 5000 }, (_, n) => [`s${n} gpt`, '1 2']).flat();
    await redis.client.hset(usageKeys(tenant, today()).sessions, ...fields);
    const report = await read({ by: 'session' });
    expect(report.rows).toHaveLength(5000);
    expect(report.total).toMatchObject({ modelCalls: 5000, inputTokens: 10_000 });
  });

  it.each([
    [{ by: 'day' }, 'by: must be model, session, skill, tenant'],
    [{ since: '2026-2-1', until: '2026-02-30' }, 'since: must be a date such as'],
    [{ until: '2026-02-30' }, 'until: must be a date that exists'],
    [{ since: '2026-03-01', until: '2026-02-01' }, 'since: 2026-03-01 is after 2026-02-01'],
    [{ since: '2020-01-01' }, 'usage is kept for 400 days'],
    [{ sessionId: 'a b' }, 'sessionId: must be 1 to 128'],
    [{ sessionId: 'a', by: 'skill' }, 'not kept by session'],
    [{ tenant: 'A' }, 'tenant: must be 1 to 63'],
    [{ month: 1 }, 'month: is not a known field'],
  ])('refuses %j', async (query, fault) => {
    await expect(read(query)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    await expect(read(query)).rejects.toThrow(fault);
  });
});
