import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Reply } from '../../../examples/scripted-model.js';
import { createClient, type Client } from '../../../src/producer/index.js';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { projectDir } from '../../support/cli.js';
import { historyOf, saidIn } from '../../support/line-turns.js';
import { tempDir } from '../../support/temp-dir.js';
import { callOf } from '../../support/turns-desk.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
let client: Client;
let book: string;
let isDown: boolean;
/** So many messages had each request of the failing turns. */
let lengths: number[];
beforeAll(async () => {
  world = await openWorld({
    SKILLMILL_EXECUTOR: 'local',
    SKILLS_ROOT: join(projectDir, 'test', 'fixtures', 'ledger-skills'),
    SKILLMILL_TOOLBOX: join(projectDir, 'test', 'support', 'ledger-toolbox.js'),
  });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  await world.worker();
  world.script('quick', [{ text: 'quick answer' }]);
  const down: Reply = { status: 500, headers: { 'retry-after-ms': '1' } };
  world.script('write, then fail', [
    callOf('skill_load', { skill_name: 'ledger' }),
    () => callOf('write_line', { book, line: 'written' }),
    (request) => {
      lengths.push(request.messages.length);
      return isDown ? down : { text: 'the model is back' };
    },
  ]);
});
afterAll(async () => {
  await client.close();
  await world.close();
});
beforeEach(async () => {
  book = join(await tempDir(), 'book');
  isDown = true;
  lengths = [];
});

const lines = async () => (await readFile(book, 'utf8')).trim().split('\n');

/** A turn whose third model call fails, and the model that is back after it. */
async function failedTurn(sessionId: string): Promise<string> {
  const { turnId } = await client.enqueue({ input: 'write, then fail', sessionId });
  expect(await client.result(turnId)).toMatchObject({
    status: 'failed',
    error: { code: 'MODEL_UNAVAILABLE', retryable: true },
    toolCalls: [{ name: 'skill_load' }, { name: 'write_line', error: null }],
  });
  isDown = false;
  return turnId;
}

describe('skillmill retry', () => {
  it('goes on from the journal: no finished call runs again [retry-command, step-not-twice]', async () => {
    const turnId = await failedTurn('resumed');
    const outcome = await world.run(['retry', turnId, '--json']);
    expect(outcome.code).toBe(0);
    const result = turnResultSchema.parse(JSON.parse(outcome.stdout));
    expect(result).toMatchObject({
      ...{ status: 'completed', output: 'the model is back', retryOf: turnId },
      toolCalls: [{ name: 'skill_load' }, { name: 'write_line', error: null, attempt: 1 }],
    });
    expect(await lines()).toHaveLength(1);
    // The very request that failed is made again.
    expect(new Set(lengths).size).toBe(1);
    expect(await saidIn(world, turnId)).toEqual(['write, then fail']);
    expect(world.model.faults).toEqual([]);
  });

  it('makes a new turn that names the one it tries again; both can be fetched [retry-command]', async () => {
    const turnId = await failedTurn('named');
    const outcome = await world.run(['retry', turnId]);
    expect(outcome).toMatchObject({ code: 0, stdout: 'the model is back\n' });
    const known = await client.retry(turnId);
    expect(known).toMatchObject({ sessionId: 'named', isKnown: true });
    expect(known.turnId).not.toBe(turnId);
    expect(await client.result(known.turnId)).toMatchObject({ retryOf: turnId });
    expect(await client.result(turnId)).toMatchObject({ status: 'failed' });
  });

  it('asked twice gives the same turn, and --detach its id [retry-command]', async () => {
    const turnId = await failedTurn('detached');
    const first = await world.run(['retry', turnId, '--detach']);
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(/^turn_[0-9a-z]{16}_[0-9a-z]{20}\n$/);
    const again = await world.run(['retry', turnId, '--detach', '--json']);
    const shape = z.object({ turnId: z.string(), sessionId: z.string(), position: z.number() });
    expect(shape.parse(JSON.parse(again.stdout))).toMatchObject({
      ...{ turnId: first.stdout.trim(), sessionId: 'detached' },
    });
    expect(await client.result(first.stdout.trim())).toMatchObject({ status: 'completed' });
    const third = await world.run(['retry', turnId]);
    expect(third).toMatchObject({ code: 0, stdout: 'the model is back\n' });
  });

  it('begins anew, at the end, when the session has gone on [retry-command, session-order]', async () => {
    const turnId = await failedTurn('gone-on');
    const later = await client.enqueue({ input: 'quick, later', sessionId: 'gone-on' });
    await client.result(later.turnId);
    const { turnId: retried } = await client.retry(turnId);
    expect(await client.result(retried)).toMatchObject({
      ...{ status: 'completed', retryOf: turnId, output: 'the model is back' },
      toolCalls: [{ name: 'skill_load' }, { name: 'write_line' }],
    });
    expect(await lines()).toHaveLength(2);
    expect(await saidIn(world, turnId)).toEqual([
      ...['write, then fail', 'quick, later', 'write, then fail'],
    ]);
    expect((await historyOf(world, turnId)).at(-1)).toMatchObject({ turnId: retried });
    expect(world.model.faults).toEqual([]);
  });

  it('runs a cancelled turn again [retry-command]', async () => {
    const { turnId } = await client.enqueue({
      ...{ input: 'quick, cancelled', sessionId: 'cancelled', delayMs: 600_000 },
    });
    expect(await client.cancel(turnId)).toBe('cancelled');
    const outcome = await world.run(['retry', turnId]);
    expect(outcome).toMatchObject({ code: 0, stdout: 'quick answer\n' });
    expect(await saidIn(world, turnId)).toEqual(['quick, cancelled']);
  });

  it('can fail again, and be tried again [retry-command]', async () => {
    const turnId = await failedTurn('fails-again');
    isDown = true;
    const second = await client.retry(turnId);
    expect(await world.run(['retry', turnId])).toMatchObject({ code: 1, stdout: '' });
    isDown = false;
    const third = await client.retry(second.turnId);
    expect(third.turnId).not.toBe(second.turnId);
    expect(await client.result(third.turnId)).toMatchObject({
      ...{ status: 'completed', retryOf: second.turnId },
    });
  });

  it('refuses a turn that completed or has not ended [retry-command, usage-wrong]', async () => {
    const done = await client.enqueue({ input: 'quick' });
    await client.result(done.turnId);
    const completed = await world.run(['retry', done.turnId]);
    expect(completed).toMatchObject({ code: 2, stdout: '' });
    expect(completed.stderr).toMatch(/^skillmill: INPUT_INVALID: .*has completed.*\n$/);
    const open = await client.enqueue({ input: 'quick', delayMs: 600_000 });
    const waiting = await world.run(['retry', open.turnId]);
    expect(waiting.stderr).toMatch(/^skillmill: TURN_NOT_FINISHED: .+\n$/);
    expect(waiting).toMatchObject({ code: 1, stdout: '' });
    await client.cancel(open.turnId);
    for (const id of ['turn_x', 'turn_0000000000000000_00000000000000000000']) {
      expect(await world.run(['retry', id])).toMatchObject({ code: 2, stdout: '' });
    }
  });
});
