import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../../examples/scripted-model.js';
import { createClient, type Client } from '../../../src/producer/index.js';
import { eventsOf, oneByOne, seen, tooMany } from '../../support/line-turns.js';
import type { WorkerProcess } from '../../support/cli.js';
import { callOf } from '../../support/turns-desk.js';
import { tempDir } from '../../support/temp-dir.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
let worker: WorkerProcess;
beforeAll(async () => {
  world = await openWorld({
    SKILLMILL_EXECUTOR: 'local',
    SKILLMILL_CONCURRENCY: '1',
    SKILLMILL_MAX_WAITS: '2',
  });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
});
afterAll(async () => {
  await client.close();
  await world.close();
});
// A worker remembers how long an endpoint asked to be left alone: each test has its own.
beforeEach(async () => {
  worker = await world.worker();
});
afterEach(() => worker.end('SIGKILL'));

describe('an endpoint that asks for a pause', () => {
  it('is left alone by every turn, and the turn’s slot serves others meanwhile [retry-after, throttled-slot]', async () => {
    let closedUntil = 0;
    const early: string[] = [];
    const open = (who: string): Reply => {
      if (Date.now() < closedUntil) early.push(who);
      return { text: `${who} is answered` };
    };
    let calls = 0;
    world.script('too many', [
      () => {
        calls += 1;
        if (calls > 1) return open('the first');
        closedUntil = Date.now() + 6000;
        return tooMany(6);
      },
    ]);
    world.script('another', [() => open('the other')]);
    const first = await client.enqueue({ input: 'too many' });
    const retrying = await seen(client, first.turnId, 'turn.retrying');
    expect(retrying).toMatchObject({ error: { code: 'MODEL_UNAVAILABLE' } });
    expect(retrying.type === 'turn.retrying' ? retrying.afterMs : 0).toBeGreaterThanOrEqual(6000);

    // Both run in the only slot: one needs no model, the other finds the endpoint closed.
    const without = await client.enqueue({ input: 'no model', skills: ['no-such-skill'] });
    const other = await client.enqueue({ input: 'another' });
    expect(await client.result(without.turnId)).toMatchObject({
      error: { code: 'SKILL_NOT_FOUND' },
    });
    await seen(client, other.turnId, 'turn.retrying');
    await expect(client.result(first.turnId, { waitMs: 0 })).rejects.toMatchObject({
      code: 'TURN_NOT_FINISHED',
    });

    expect(await client.result(first.turnId)).toMatchObject({
      ...{ status: 'completed', output: 'the first is answered', attempts: 2 },
    });
    expect(await client.result(other.turnId)).toMatchObject({ status: 'completed', attempts: 2 });
    expect(early).toEqual([]);
    expect(calls).toBe(2);
    const types = (await eventsOf(client, first.turnId)).map(({ type }) => type);
    expect(types.filter((type) => !type.startsWith('message.'))).toEqual([
      ...['turn.queued', 'turn.started', 'turn.retrying', 'turn.started', 'turn.completed'],
    ]);
  });

  it('for ever fails the turn after so many waits, and its session goes on [retry-after]', async () => {
    let calls = 0;
    world.script('always too many', [
      () => {
        calls += 1;
        return tooMany(3);
      },
    ]);
    world.script('after it', [{ text: 'going on' }]);
    const { turnId } = await client.enqueue({ input: 'always too many', sessionId: 'spent' });
    const next = await client.enqueue({ input: 'after it', sessionId: 'spent' });
    expect(await client.result(turnId)).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { code: 'MODEL_UNAVAILABLE', retryable: true, details: { status: 429 } },
    });
    expect(calls).toBe(3);
    expect(await client.result(next.turnId)).toMatchObject({ output: 'going on' });
    expect(world.model.faults).toEqual([]);
  });

  it('runs no finished command again when the pause is over [retry-after, step-not-twice]', async () => {
    const book = join(await tempDir(), 'book');
    world.script('one command', [
      runs(`echo ran >> ${book}; for n in $(seq 900); do echo $n > "$OUTPUT_DIR/$n.txt"; done`),
      ...oneByOne([tooMany(3), { text: 'after the pause' }]),
    ]);
    const { turnId } = await client.enqueue({ input: 'one command' });
    expect(await client.result(turnId)).toMatchObject({
      ...{ status: 'completed', output: 'after the pause', attempts: 2 },
      toolCalls: [{ name: 'skill_run', attempt: 1 }],
    });
    expect(await readFile(book, 'utf8')).toBe('ran\n');
  });

  it('counts anew after a step forward [retry-after]', async () => {
    world.script('slow progress', [
      ...oneByOne([tooMany(3), tooMany(3), callOf('skill_list')]).slice(0, 1),
      ...oneByOne([tooMany(3), { text: 'got through' }]),
    ]);
    const { turnId } = await client.enqueue({ input: 'slow progress' });
    expect(await client.result(turnId)).toMatchObject({
      ...{ status: 'completed', output: 'got through', attempts: 4 },
    });
  });

  it('for longer than the turn may take fails it at once, and says when to come again [retry-after]', async () => {
    world.script('come back tomorrow', [tooMany(86_000)]);
    const from = world.model.requests.length;
    const { turnId } = await client.enqueue({ input: 'come back tomorrow' });
    expect(await client.result(turnId, { waitMs: 10_000 })).toMatchObject({
      status: 'failed',
      attempts: 1,
      error: {
        ...{ code: 'MODEL_UNAVAILABLE', retryable: true },
        details: { status: 429, retryAfterMs: 86_000_000 },
      },
    });
    expect(world.model.requests.length).toBe(from + 1);
  });

  it('can be waited for no longer by a cancel [retry-after, cancel-waiting]', async () => {
    world.script('cancel the wait', oneByOne([tooMany(600), { text: 'never' }]));
    const { turnId } = await client.enqueue({ input: 'cancel the wait' });
    await seen(client, turnId, 'turn.retrying');
    expect(await world.run(['cancel', turnId])).toMatchObject({ code: 0 });
    expect(await client.result(turnId, { waitMs: 5000 })).toMatchObject({
      ...{ status: 'cancelled', error: { code: 'CANCELLED' }, attempts: 1 },
    });
  });

  it('for a moment is waited for in place [retry-after]', async () => {
    world.script('a moment', oneByOne([tooMany(1), { text: 'after a moment' }]));
    const { turnId } = await client.enqueue({ input: 'a moment' });
    expect(await client.result(turnId)).toMatchObject({
      ...{ status: 'completed', output: 'after a moment', attempts: 1 },
    });
    await seen(client, turnId, 'turn.retrying');
  });
});
