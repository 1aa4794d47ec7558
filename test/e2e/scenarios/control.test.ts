import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import { eventually } from '../../support/eventually.js';
import { tempDir } from '../../support/temp-dir.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({
    SKILLMILL_CONCURRENCY: '2',
    SKILLMILL_SESSION_TTL: '3000',
    SKILLMILL_RESULT_TTL: '2000',
  });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  await world.worker();
  world.script('quick', [{ text: 'quick answer' }]);
  world.script('sleep long', [runs('echo begun; sleep 300'), { text: 'never' }]);
});
afterAll(async () => {
  await client.close();
  await world.close();
});

async function commandBegun(turnId: string): Promise<void> {
  for await (const event of client.events(turnId)) if (event.type === 'tool.output') return;
}

describe('cancelling', () => {
  it('ends a running turn, its command and its container [cancel-running, no-sandbox-left]', async () => {
    const { turnId } = await client.enqueue({ input: 'sleep long', sessionId: 'cancelled' });
    await commandBegun(turnId);
    expect(await world.run(['cancel', turnId])).toMatchObject({ code: 0 });
    const result = await client.result(turnId);
    expect(result).toMatchObject({
      status: 'cancelled',
      error: { code: 'CANCELLED', retryable: false },
    });
    await world.noSandboxLeft();
    // Its session accepts the next turn: the open call has an answer in the history.
    expect(await world.run(['run', 'quick', '--session', 'cancelled'])).toMatchObject({ code: 0 });
    expect(world.model.faults).toEqual([]);
    expect(await world.run(['cancel', turnId, '--json'])).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ turnId, outcome: 'finished' })}\n`,
    });
    expect(await world.run(['result', turnId])).toMatchObject({ code: 130, stdout: '' });
  });

  it('ends a waiting turn at once; it never runs [cancel-waiting]', async () => {
    const running = await client.enqueue({ input: 'sleep long', sessionId: 'line' });
    const waiting = await client.enqueue({ input: 'must never be asked', sessionId: 'line' });
    const last = await client.enqueue({ input: 'quick', sessionId: 'line' });
    await commandBegun(running.turnId);
    expect(await client.cancel(waiting.turnId)).toBe('cancelled');
    expect(await client.result(waiting.turnId)).toMatchObject({ status: 'cancelled', attempts: 0 });
    expect(await client.cancel(running.turnId)).toBe('requested');
    expect(await client.result(last.turnId)).toMatchObject({ status: 'completed' });
    const asked = world.model.requests.map((request) => request.messages.at(-1)?.content);
    expect(asked).not.toContain('must never be asked');
    // It stays in the history, closed validly.
    const said = world.model.requests.at(-1)?.messages.map((message) => message.content);
    expect(said).toContain('must never be asked');
    expect(world.model.faults).toEqual([]);
    expect(await client.cancel(waiting.turnId)).toBe('finished');
  });

  it('cancels on Ctrl-C in run, but not in watch [interrupt-run, watch-result]', async () => {
    const run = world.start(['run', 'sleep long']);
    let said = '';
    run.child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
    const turnId = await eventually('the first output', () =>
      said.includes('begun') ? /turn_\w+/.exec(said)?.[0] : undefined,
    );
    const watch = world.start(['watch', turnId]);
    if (watch.child.stderr !== null) await once(watch.child.stderr, 'data');
    watch.child.kill('SIGINT');
    await watch.outcome;
    await sleep(500);
    await expect(client.result(turnId, { waitMs: 0 })).rejects.toMatchObject({
      code: 'TURN_NOT_FINISHED',
    });
    expect(await world.run(['result', turnId])).toMatchObject({ code: 1, stdout: '' });

    run.child.kill('SIGINT');
    expect(await run.outcome).toMatchObject({ code: 130, stdout: '' });
    expect(await client.result(turnId)).toMatchObject({ status: 'cancelled' });
    await world.noSandboxLeft();
  });
});

describe('following', () => {
  it('watches from the first event and fetches the result [watch-result, event-seq]', async () => {
    world.script('with steps', [runs('echo visible step'), { text: 'the answer' }]);
    const enqueued = await world.run(['enqueue', 'with steps', '--session', 'followed']);
    expect(enqueued.stdout).toMatch(/^turn_[0-9a-z]{16}_[0-9a-z]{20}\n$/);
    const turnId = enqueued.stdout.trim();
    const watched = await world.run(['watch', turnId]);
    expect(watched).toMatchObject({ code: 0, stdout: 'the answer\n' });
    expect(watched.stderr).toMatch(
      /queued[^]*started[^]*skill_run[^]*visible step[^]*exit 0[^]*completed/,
    );
    expect(await world.run(['result', turnId])).toMatchObject({ code: 0, stdout: 'the answer\n' });

    const all = [];
    for await (const event of client.events(turnId)) all.push(event);
    expect(all.map((event) => event.seq)).toEqual(all.map((_, index) => index + 1));
    const rest = [];
    for await (const event of client.events(turnId, { after: 3 })) rest.push(event);
    expect(rest).toEqual(all.slice(3));
    const none = [];
    for await (const event of client.events(turnId, { after: 99 })) none.push(event);
    expect(none).toEqual([]);
  });

  it('shows control characters of a command instead of sending them [watch-result]', async () => {
    world.script('paint the screen', [runs("printf '\\033[2Jwiped\\n'"), { text: 'done' }]);
    const outcome = await world.run(['run', 'paint the screen']);
    expect(outcome.stderr).toContain('\\x1b[2Jwiped');
    expect(outcome.stderr).not.toContain('\u001b');
  });
});

describe('what is kept', () => {
  it('keeps one session id apart under two tenants [tenants]', async () => {
    world.script('tenant one', [{ text: 'for one' }]);
    const one = await world.run(['run', 'tenant one', '--session', 'same', '--json']);
    const env = { SKILLMILL_TENANT: 'other' };
    expect(await world.run(['run', 'quick', '--session', 'same'], env)).toMatchObject({ code: 0 });
    expect(world.model.requests.at(-1)?.messages).toHaveLength(2);
    const { turnId } = JSON.parse(one.stdout) as { turnId: string };
    for (const command of ['result', 'watch', 'cancel']) {
      expect(await world.run([command, turnId], env)).toMatchObject({ code: 2, stdout: '' });
    }
  });

  it('lets everything that a finished turn leaves expire [keys-expire]', async () => {
    world.script('leave traces', [
      { calls: [{ name: 'skill_load', arguments: { skill_name: 'python-math' } }] },
      runs('echo data > "$OUTPUT_DIR/data.txt"'),
      { text: 'done' },
    ]);
    await world.run(['run', 'leave traces', '--file', '/etc/hostname']);
    // BullMQ's own bookkeeping does not grow with the number of turns.
    const lasting =
      /^skillmill:(open-sessions|deployment|blob-folder-id)$|^\{skillmill-queue\}:(turns|schedules):(meta|id|events|stalled-check|marker)$/;
    await eventually('only keys with an expiry', async () => {
      const keys = await world.redis.keys('*');
      const forever = [];
      for (const key of keys) {
        if ((await world.redis.ttl(key)) === -1 && !lasting.test(key)) forever.push(key);
      }
      if (forever.length > 0) throw new Error(`without an expiry: ${forever.join(', ')}`);
      return true;
    });
  });
});

describe('the local executor', () => {
  it('runs the same turn and says that it isolates nothing [local-executor]', async () => {
    // A folder of its own: other workers of this machine make theirs in the usual one.
    const TMPDIR = await tempDir();
    const env = { SKILLMILL_EXECUTOR: 'local', SECRET_OF_THE_HOST: 'hush', TMPDIR };
    const local = await openWorld(env);
    const worker = await local.worker();
    expect(worker.log()).toContain('without isolation');
    local.script('locally', [
      runs('pwd; env; python3 --version >/dev/null; echo out > "$OUTPUT_DIR/o.txt"'),
      (request) => ({ text: JSON.stringify(request.messages.at(-1)?.content) }),
    ]);
    const outcome = await local.run(['run', 'locally', '--json']);
    expect(outcome.code).toBe(0);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      artifacts: [{ name: 'out/o.txt', sizeBytes: 4 }],
    });
    expect(outcome.stdout).not.toContain('hush');
    await local.close();
    expect(await readdir(TMPDIR)).toEqual([]);
  });
});
