import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Step, WireRequest } from '../../../examples/scripted-model.js';
import { createClient, type TurnRequest } from '../../../src/producer/index.js';
import type { TurnResult } from '../../../src/shared/contracts/index.js';
import type { UsageReport, UsageRow } from '../../../src/shared/usage/usage-report.js';
import { eventually } from '../../support/eventually.js';
import { call, load } from '../../support/skill-turns.js';
import { tempDir } from '../../support/temp-dir.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** A dollar a million tokens in, two out. */
const prices = { 'scripted*': { inputPerMillion: 1, outputPerMillion: 2 } };

/** Starts a worker whose operator's config file says this; it ends with the test. */
async function workerWith(config: unknown, env: Record<string, string> = {}) {
  const path = join(await tempDir(), 'operator.json');
  await writeFile(path, JSON.stringify(config));
  const worker = await world.worker({ SKILLMILL_CONFIG: path, ...env });
  onTestFinished(async () => {
    await worker.end();
  });
  return worker;
}

/** Runs a tenant's turns at once, and gives their results in order. */
async function runAll(tenant: string, turns: readonly TurnRequest[]): Promise<TurnResult[]> {
  await using client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '', tenant });
  return await Promise.all(
    turns.map(async (turn) => client.result((await client.enqueue(turn)).turnId)),
  );
}

/** Steps that make model calls and nothing else; no two are alike, so that nobody takes them for a loop. */
const busy = (count: number): Step[] => [
  ...Array.from({ length: count }, (_, n) => call('skill_list_docs', { skill_name: `none-${n}` })),
  { text: 'done' },
];

const tokensOf = ({ usage }: TurnResult) => usage.inputTokens + usage.outputTokens;
const sumOf = (results: readonly TurnResult[], count: (result: TurnResult) => number) =>
  results.reduce((sum, result) => sum + count(result), 0);
/** As the scripted model counts. */
const dearestOf = (requests: readonly WireRequest[]) =>
  Math.max(...requests.map(({ messages }) => Math.ceil(JSON.stringify(messages).length / 4) + 100));

async function usage(tenant: string, ...options: string[]): Promise<UsageReport> {
  const outcome = await world.run(['usage', '--json', ...options], { SKILLMILL_TENANT: tenant });
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(outcome.stdout) as UsageReport;
}

describe('a budget', () => {
  it('of a tenant stops its sessions, whatever runs in parallel; what was done is kept [budgets, usage-report]', async () => {
    const tokens = 20_000;
    const budgets = { tenant: { tokens }, callOutputTokens: 200 };
    for (const config of [
      { prices, budgets },
      { prices, budgets },
    ])
      await workerWith(config);
    world.script('spend', busy(25));
    const from = world.model.requests.length;
    const sessions = ['left', 'right', 'third'];
    const results = await runAll(
      'spenders',
      sessions.map((sessionId) => ({ input: 'spend', sessionId })),
    );
    const requests = world.model.requests.slice(from);
    const spent = sumOf(results, tokensOf);
    expect(spent).toBeGreaterThanOrEqual(tokens);
    expect(spent).toBeLessThan(tokens + dearestOf(requests));
    for (const result of results) {
      expect(result).toMatchObject({
        status: 'failed',
        error: {
          code: 'LIMIT_EXCEEDED',
          retryable: false,
          details: { limit: 'budget', scope: 'tenant', unit: 'tokens', budget: tokens, spent },
        },
      });
      // One refused call a turn; every other one was answered, and its tool calls are there.
      expect(result.toolCalls.length).toBeGreaterThanOrEqual(result.usage.modelCalls - 1);
    }
    // Nothing is left for a call; another tenant has its own budget.
    const asked = world.model.requests.length;
    const [next] = await runAll('spenders', [{ input: 'spend' }]);
    expect(next).toMatchObject({ status: 'failed', usage: { inputTokens: 0 } });
    expect(world.model.requests).toHaveLength(asked);
    world.script('brief', [{ text: 'done' }]);
    expect(await runAll('savers', [{ input: 'brief' }])).toMatchObject([{ status: 'completed' }]);

    const bySession = await usage('spenders', '--by', 'session');
    for (const { sessionId, usage: used } of results) {
      const { inputTokens, outputTokens, costUsd } = used;
      const row = bySession.rows.find(({ name }) => name === sessionId);
      expect(row).toMatchObject({ inputTokens, outputTokens, costUsd });
      expect(costUsd).toBeCloseTo((inputTokens + 2 * outputTokens) / 1e6, 9);
    }
    const byModel = await usage('spenders');
    expect(byModel.rows).toMatchObject([{ name: 'scripted', modelCalls: requests.length }]);
    for (const { total } of [bySession, byModel]) {
      expect(tokensOfRow(total)).toBe(spent);
    }
    const byTenant = await usage('spenders', '--by', 'tenant');
    expect(byTenant.rows.map(({ name }) => name)).toEqual(['spenders', 'savers']);
  });

  it('of a turn, a session and a batch stop what they are for [budgets]', async () => {
    await workerWith({
      prices,
      budgets: { turn: { tokens: 9000 }, session: { tokens: 12_000 }, batch: { usd: 0.014 } },
    });
    world.script('work', busy(25));
    const details = (scope: string, unit: string) => ({
      status: 'failed',
      error: { code: 'LIMIT_EXCEEDED', details: { limit: 'budget', scope, unit } },
    });
    const [turn] = await runAll('scopes', [{ input: 'work', sessionId: 's' }]);
    expect(turn).toMatchObject(details('turn', 'tokens'));
    const [session] = await runAll('scopes', [{ input: 'work', sessionId: 's' }]);
    expect(session).toMatchObject(details('session', 'tokens'));
    const inBatch = { input: 'work', batchId: 'nightly' };
    const batch = await runAll('scopes', [inBatch, inBatch, inBatch]);
    expect(batch.map(({ error }) => error?.details?.['scope'])).toContain('batch');
    const cost = sumOf(batch, (result) => result.usage.costUsd ?? 0);
    expect(cost).toBeGreaterThanOrEqual(0.014);
    expect(cost).toBeLessThan(0.014 + (2 * dearestOf(world.model.requests)) / 1e6);
  });

  it('of the request’s own stops it as well [budgets]', async () => {
    await workerWith({ prices });
    world.script('own', busy(25));
    const [byCost, byTokens, unpriced] = await runAll('owners', [
      { input: 'own', limits: { maxCostUsd: 0.005 } },
      { input: 'own', limits: { maxTotalTokens: 5000 } },
      { input: 'own', limits: { maxCostUsd: 0.005 }, model: 'unknown' },
    ]);
    expect(byCost?.error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'maxCostUsd', scope: 'turn', unit: 'usd', budget: 0.005 },
    });
    expect(byTokens?.error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'maxTotalTokens' },
    });
    for (const result of [byCost, byTokens]) expect(result?.toolCalls.length).toBeGreaterThan(0);
    expect(unpriced).toMatchObject({
      usage: { inputTokens: 0 },
      error: { code: 'LIMIT_EXCEEDED', details: { limit: 'price', model: 'unknown' } },
    });
  });

  it('in USD needs the prices of the worker’s models [budgets]', async () => {
    const started = workerWith(
      { prices, budgets: { tenant: { usd: 1 } } },
      { OPENAI_MODEL: 'scripted,other' },
    );
    await expect(started).rejects.toThrow(
      /ended with 2: .*CONFIG_INVALID.*budgets\.tenant\.usd.*the model other/,
    );
  });

  it('counts a call whose worker died as spent [budgets]', async () => {
    const config = { budgets: { turn: { tokens: 4000 } } };
    const first = await workerWith(config);
    world.script('last breath', [{ text: 'never', delayMs: 120_000 }]);
    const from = world.model.requests.length;
    const ended = runAll('mourners', [{ input: 'last breath' }]);
    await eventually('the call', () => (world.model.requests.length > from ? true : undefined));
    await first.end('SIGKILL');
    await workerWith(config);
    // 4096 output tokens were held for it.
    expect(await ended).toMatchObject([
      {
        status: 'failed',
        attempts: 2,
        error: { details: { limit: 'budget', scope: 'turn', budget: 4000 } },
      },
    ]);
    expect(world.model.requests).toHaveLength(from + 1);
  });
});

function tokensOfRow(row: UsageRow | null): number {
  return row === null ? 0 : row.inputTokens + row.outputTokens;
}

describe('the usage report', () => {
  it('counts a turn for each of its skills, and is a table for people [usage-report]', async () => {
    await workerWith({});
    world.script('with skills', [load('python-math'), load('user-file-ops'), { text: 'done' }]);
    world.script('with one', [load('python-math'), { text: 'done' }]);
    await runAll('readers', [{ input: 'with skills' }, { input: 'with one' }]);
    const { rows, total } = await usage('readers', '--by', 'skill');
    expect(rows.map(({ name, modelCalls }) => [name, modelCalls])).toEqual([
      ['python-math', 5],
      ['user-file-ops', 3],
    ]);
    expect(total).toBeNull();
    const env = { SKILLMILL_TENANT: 'readers' };
    const table = await world.run(['usage'], env);
    expect(table.stdout).toMatch(
      /^model +calls +input +cached +output +USD\nscripted +5 +\d+ +0 +\d+ +-\ntotal +5 +\d+ +0 +\d+ +-\n$/,
    );
    expect(table.stderr).toContain('without a price, so not in USD: 5 calls');
    expect((await usage('readers', '--session', 'none', '--by', 'session')).rows).toEqual([]);
    const wrong = await world.run(['usage', '--since', 'yesterday', '--json'], env);
    expect(wrong).toMatchObject({ code: 2 });
    expect(JSON.parse(wrong.stdout)).toMatchObject({ error: { code: 'INPUT_INVALID' } });
  });
});
