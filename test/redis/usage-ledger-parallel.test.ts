import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { SkillmillError } from '../../src/shared/errors/skillmill-error.js';
import { batchBudgetKeys } from '../../src/shared/redis/keys.js';
import type { BudgetedTurn } from '../../src/shared/usage/budget-scopes.js';
import type { UsageLedger } from '../../src/shared/usage/usage-ledger.js';
import { call, makeBatchId, openLedger, patience, turnOf, used } from './ledger-desk.js';
import { OneBudget } from './one-budget.js';
import { tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const lifetimeMs = 120;
const ends = ['settle', 'settle', 'settle', 'settle_twice', 'late', 'release', 'die'] as const;

/** One call of a worker. */
interface Plan {
  /** The most that it may cost, in tokens, and how much of that it does. */
  readonly most: number;
  readonly share: number;
  readonly ms: number;
  readonly end: (typeof ends)[number];
}

const plan: fc.Arbitrary<Plan> = fc.record({
  most: fc.integer({ min: 1, max: 60 }),
  share: fc.constantFrom(0, 0.3, 1),
  ms: fc.nat(15),
  end: fc.constantFrom(...ends),
});
const plans = fc.array(plan, { minLength: 1, maxLength: 10 });
const scenario = fc.record({
  tokens: fc.integer({ min: 20, max: 300 }),
  workers: fc.array(plans, { minLength: 2, maxLength: 6 }),
});

/** Makes a call, unless the budget is used up; gives what it did cost. */
async function makeCall(ledger: UsageLedger, turn: BudgetedTurn, one: Plan): Promise<number> {
  const asked = call({ inputTokens: one.most, maxOutputTokens: 0 });
  const got = await ledger.reserve(turn, asked, patience).catch((error: unknown) => {
    if (error instanceof SkillmillError && error.code === 'LIMIT_EXCEEDED') return undefined;
    throw error;
  });
  if (got === undefined) return 0;
  await sleep(one.end === 'late' ? lifetimeMs + 50 : one.ms);
  if (one.end === 'die') return one.most;
  if (one.end === 'release') await got.release();
  else await got.settle(used(Math.floor(one.most * one.share)));
  if (one.end === 'settle_twice') await got.settle(used(one.most));
  return one.end === 'release' ? 0 : Math.floor(one.most * one.share);
}

/** Looks at a budget again and again, each time as of one moment. */
async function watch(batchId: string, signal: AbortSignal) {
  const budget = new OneBudget(redis.client, batchId);
  const seen: Awaited<ReturnType<OneBudget['state']>>[] = [];
  while (!signal.aborted) {
    seen.push(await budget.state());
    await sleep(2);
  }
  return seen;
}

it('whatever runs in parallel, a budget is never passed by more than one call', async () => {
  const property = fc.asyncProperty(scenario, async ({ tokens, workers }) => {
    const batchId = makeBatchId();
    const connections: Redis[] = [];
    const done = new AbortController();
    const watched = watch(batchId, done.signal);
    const costs = await Promise.all(
      workers.map(async (calls, index) => {
        const connection = new Redis(redis.url);
        connections.push(connection);
        const options = { batch: { tokens }, callLifetimeMs: lifetimeMs };
        const ledger = openLedger(connection, options);
        const turn = turnOf(`s${index}`, { batchId });
        let cost = 0;
        for (const one of calls) cost += await makeCall(ledger, turn, one);
        return cost;
      }),
    ).finally(() => {
      done.abort();
      for (const connection of connections) connection.disconnect();
    });
    const dearest = Math.max(...workers.flat().map(({ most }) => most));
    const total = costs.reduce((sum, cost) => sum + cost, 0);
    expect(total).toBeLessThanOrEqual(tokens - 1 + dearest);
    for (const { spent, held, inFlight } of await watched) {
      expect(spent.tokens).toBeLessThanOrEqual(tokens - 1 + dearest);
      if (inFlight > 1) expect(spent.tokens + held.tokens).toBeLessThanOrEqual(tokens);
    }
    // Every call is accounted for: what is settled, and what was lost.
    const { spent, held } = await new OneBudget(redis.client, batchId).state();
    expect(spent.tokens + held.tokens).toBe(total);
    const { spent: spentKey, calls } = batchBudgetKeys(tenant, batchId);
    await redis.client.del(spentKey, calls);
  });
  await fc.assert(property, { numRuns: 15 });
}, 120_000);

it('a budget that many ask for at once is used up', async () => {
  const batchId = makeBatchId();
  const ledger = openLedger(redis.client, { batch: { tokens: 400 } });
  const worker = async (index: number) => {
    const turn = turnOf(`s${index}`, { batchId });
    let cost = 0;
    for (;;) {
      const asked = { most: 20, share: 0.5, ms: 3, end: 'settle' } as const;
      const more = await makeCall(ledger, turn, asked);
      if (more === 0) return cost;
      cost += more;
    }
  };
  const costs = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(worker));
  // Ten tokens a call: the last one may begin at 399.
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(400);
});
