import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../../examples/scripted-model.js';
import { createClient, type Client } from '../../../src/producer/index.js';
import { projectDir } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, historyOf, tooMany } from '../../support/line-turns.js';
import { tempDir } from '../../support/temp-dir.js';
import { callOf } from '../../support/turns-desk.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
let book: string;
beforeAll(async () => {
  world = await openWorld({
    SKILLMILL_EXECUTOR: 'local',
    SKILLS_ROOT: [
      join(projectDir, 'examples', 'skills'),
      join(projectDir, 'test', 'fixtures', 'ledger-skills'),
    ].join(','),
    SKILLMILL_TOOLBOX: join(projectDir, 'test', 'support', 'ledger-toolbox.js'),
  });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
});
afterAll(async () => {
  await client.close();
  await world.close();
});
beforeEach(async () => {
  book = join(await tempDir(), 'book');
});
/** Each test starts its own workers, one after another. */
const running: { end: (signal?: NodeJS.Signals) => Promise<unknown> }[] = [];
afterEach(() => Promise.all(running.splice(0).map((worker) => worker.end('SIGKILL'))));
async function worker(env: Record<string, string> = {}) {
  const started = await world.worker(env);
  running.push(started);
  return started;
}

/** A turn that writes a line, and in whose next model call its worker is killed. */
async function killedAfterLine(name: string, said: Reply = {}): Promise<string> {
  let isAsked = false;
  let requests = 0;
  world.script(name, [
    callOf('skill_load', { skill_name: 'ledger' }),
    { ...said, ...callOf('write_line', { book, line: 'written' }) },
    () => {
      requests += 1;
      if (requests > 1) return { text: 'went on' };
      isAsked = true;
      return new Promise<Reply>(() => undefined);
    },
  ]);
  const first = await worker();
  const limits = name.includes('out of time') ? { turnTimeoutMs: 3000 } : {};
  const { turnId } = await client.enqueue({ input: name, sessionId: nameOf(name), limits });
  await eventually('the model to be asked', () => isAsked || undefined);
  await first.end('SIGKILL');
  return turnId;
}
const nameOf = (name: string) => name.replaceAll(' ', '-');
const calls = [
  { name: 'skill_load', error: null },
  { name: 'write_line', error: null, attempt: 1 },
];

describe('what earlier attempts have done', () => {
  it('is kept when the turn’s time is over before the next one [between-attempts, worker-killed]', async () => {
    const turnId = await killedAfterLine('out of time');
    await worker();
    expect(await client.result(turnId)).toMatchObject({
      ...{ status: 'failed', error: { code: 'LIMIT_EXCEEDED' }, attempts: 2 },
      toolCalls: calls,
      usage: { modelCalls: 2, toolCalls: 2 },
    });
    const roles = (await historyOf(world, turnId)).map(({ role }) => role);
    expect(roles.slice(0, 5)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
  });

  it('is kept when the turn is cancelled from where its journal cannot be read; no model is asked [between-attempts, cancel-running]', async () => {
    const turnId = await killedAfterLine('far away', { text: 'x'.repeat(300_000) });
    await eventually('the lease to run out', async () => {
      const [, tag = ''] = turnId.split('_');
      const session = `skillmill:{default:${tag}}:session`;
      const until = Number(await world.redis.hget(session, 'leaseExpiresAt'));
      return until < Date.now() || undefined;
    });
    const elsewhere = { SKILLMILL_DATA_DIR: await tempDir() };
    const cancelled = await world.run(['cancel', turnId, '--json'], elsewhere);
    expect(cancelled).toMatchObject({ code: 0 });
    expect(JSON.parse(cancelled.stdout)).toMatchObject({ outcome: 'requested' });
    const asked = world.model.requests.length;
    await worker();
    expect(await client.result(turnId)).toMatchObject({ status: 'cancelled', toolCalls: calls });
    expect(world.model.requests).toHaveLength(asked);
  });

  it('leaves an artifact once, whoever tries the turn again [between-attempts, retry-command]', async () => {
    let isDown = true;
    world.script('make and fail', [
      runs('echo made > out/made.txt', { output_files: ['out/*'], save_as_artifacts: true }),
      () => (isDown ? { status: 500, headers: { 'retry-after-ms': '1' } } : { text: 'done' }),
    ]);
    await worker();
    const { turnId } = await client.enqueue({ input: 'make and fail', sessionId: 'made' });
    expect(await client.result(turnId)).toMatchObject({ status: 'failed', artifacts: [{}] });
    isDown = false;
    const again = await client.retry(turnId);
    expect(await client.result(again.turnId)).toMatchObject({
      ...{ status: 'completed', artifacts: [{ name: 'out/made.txt', version: 0 }] },
    });
    const [, tag = ''] = turnId.split('_');
    const kept = await world.redis.lrange(`skillmill:{default:${tag}}:artifacts`, 0, -1);
    expect(kept).toHaveLength(1);
  });
});

describe('a key that is used anew after its result has expired', () => {
  it('has all of its budget, and fails and is retried by itself [between-attempts, same-key, budgets]', async () => {
    await worker();
    let isDown = false;
    world.script('costly', [
      () =>
        isDown
          ? { status: 500, headers: { 'retry-after-ms': '1' } }
          : { text: 'dear '.repeat(1000) },
    ]);
    const turn = {
      ...{ input: 'costly', sessionId: 'anew', idempotencyKey: 'monday' },
      limits: { maxTotalTokens: 1000 },
    };
    const retried: string[] = [];
    for (const round of [1, 2, 3]) {
      isDown = round > 1;
      const { turnId, isKnown } = await client.enqueue(turn);
      expect(isKnown).toBe(false);
      const status = isDown ? 'failed' : 'completed';
      const error = isDown ? { code: 'MODEL_UNAVAILABLE' } : null;
      expect(await client.result(turnId), `round ${round}`).toMatchObject({ status, error });
      isDown = false;
      if (status === 'failed') {
        const again = await client.retry(turnId);
        expect(again.isKnown).toBe(false);
        retried.push(again.turnId);
        expect(await client.result(again.turnId)).toMatchObject({ status: 'completed' });
      }
      // As after the time for which results are kept.
      const [, tag = ''] = turnId.split('_');
      const key = `skillmill:{default:${tag}}:turn:${turnId}`;
      await world.redis.del(key, `${key}:events`, `${key}:journal`, `${key}:blobs`);
    }
    expect(new Set(retried).size).toBe(2);
  });
});

describe('hosts whose clocks are an hour apart', () => {
  const anHourAhead = `--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+3600000`;
  const ahead = { NODE_OPTIONS: anHourAhead };

  it('hand turns over and pause them for as long as they say, not for an hour [between-attempts, hand-over, throttled-slot]', async () => {
    let isPaused = true;
    world.script('paused', [() => (isPaused ? tooMany(1) : { text: 'after the pause' })]);
    world.script('handed over', [
      runs('sleep 2; echo slept'),
      () => (isPaused ? new Promise<Reply>(() => undefined) : { text: 'went on' }),
    ]);
    const first = await worker({ ...ahead, SKILLMILL_SHUTDOWN_GRACE: '1' });
    const paused = await client.enqueue({ input: 'paused', sessionId: 'paused' });
    for await (const event of client.events(paused.turnId)) {
      if (event.type === 'turn.retrying') break;
    }
    const handed = await client.enqueue({ input: 'handed over', sessionId: 'handed' });
    for await (const event of client.events(handed.turnId))
      if (event.type === 'tool.started') break;
    isPaused = false;
    expect(await first.end('SIGTERM')).toBe(0);
    await worker();
    expect(await client.result(handed.turnId)).toMatchObject({ output: 'went on', attempts: 2 });
    expect(await client.result(paused.turnId)).toMatchObject({ output: 'after the pause' });
    const events = await eventsOf(client, handed.turnId);
    expect(events.filter(({ type }) => type === 'turn.parked')).toHaveLength(1);
  });

  it('run a delayed turn when it is due, not an hour later [between-attempts, delayed-turn]', async () => {
    world.script('delayed', [{ text: 'in time' }]);
    await worker();
    const args = ['enqueue', 'delayed', '--delay', '1'];
    const enqueued = await world.run(args, ahead);
    expect(enqueued).toMatchObject({ code: 0, stderr: '' });
    expect(await client.result(enqueued.stdout.trim())).toMatchObject({ output: 'in time' });
  });
});
