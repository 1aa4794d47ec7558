import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import { projectDir } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, held, saidIn } from '../../support/line-turns.js';
import { tempDir } from '../../support/temp-dir.js';
import { callOf } from '../../support/turns-desk.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({
    SKILLMILL_CONCURRENCY: '1',
    SKILLS_ROOT: [
      ...[join(projectDir, 'examples', 'skills')],
      ...[join(projectDir, 'test', 'fixtures', 'ledger-skills')],
    ].join(','),
    SKILLMILL_TOOLBOX: join(projectDir, 'test', 'support', 'ledger-toolbox.js'),
  });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
});
afterAll(async () => {
  await client.close();
  await world.close();
});

/** All that Redis holds of a session, by key. */
async function stored(turnId: string): Promise<Record<string, string>> {
  const [, tag = ''] = turnId.split('_');
  const keys = await world.redis.keys(`skillmill:{default:${tag}}:*`);
  const dumps = await Promise.all(
    keys.sort().map(async (key) => {
      const dump = await world.redis.dumpBuffer(key);
      return [key, dump.toString('base64')] as const;
    }),
  );
  return Object.fromEntries(dumps);
}

describe('a worker that stands still for longer than its lease', () => {
  it('writes nothing more when it wakes, removes its sandbox, and goes on [frozen-worker, step-not-twice, call-again, no-sandbox-left]', async () => {
    const book = join(await tempDir(), 'book');
    const sleeper = await world.worker();
    world.script('frozen in a command', [
      callOf('skill_load', { skill_name: 'ledger' }),
      callOf('write_line', { book, line: 'once' }),
      runs('echo begun; sleep 4; echo over > "$OUTPUT_DIR/over.txt"'),
      { text: 'told once' },
    ]);
    world.script('quick', [{ text: 'quick answer' }]);
    const { turnId } = await client.enqueue({ input: 'frozen in a command', sessionId: 'frozen' });
    for await (const event of client.events(turnId)) if (event.type === 'tool.output') break;
    sleeper.child.kill('SIGSTOP');
    const other = await world.worker();
    const result = await client.result(turnId);
    expect(result).toMatchObject({
      ...{ status: 'completed', output: 'told once', attempts: 2 },
      toolCalls: [
        { name: 'skill_load', attempt: 1 },
        { name: 'write_line', attempt: 1 },
        { name: 'skill_run', attempt: 2 },
      ],
    });
    const before = await stored(turnId);
    await other.end();
    sleeper.child.kill('SIGCONT');
    // It takes the next turn: so it has lost the one that it held, and is well.
    const next = await client.enqueue({
      input: 'quick',
      sessionId: 'after the frost'.replaceAll(' ', '-'),
    });
    expect(await client.result(next.turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    await world.noSandboxLeft();
    expect(await stored(turnId)).toEqual(before);
    expect(await client.result(turnId)).toEqual(result);
    const events = await eventsOf(client, turnId);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === 'turn.completed')).toHaveLength(1);
    expect(sleeper.child.exitCode).toBeNull();
    expect(await sleeper.end()).toBe(0);
    expect(world.model.faults).toEqual([]);
  });
});

describe('fifty turns that wait for one', () => {
  it('hold up no other session and no shutdown, and none is lost [others-not-delayed, drain, session-order]', async () => {
    const env = { SKILLMILL_CONCURRENCY: '2', SKILLMILL_EXECUTOR: 'local' };
    const first = [await world.worker(env), await world.worker(env)];
    const hold = held({ text: 'let go' });
    world.script('the long one', [hold.step]);
    world.script('line', [{ text: 'in its turn' }]);
    const sessionId = 'fifty';
    const long = await client.enqueue({ input: 'the long one', sessionId });
    await hold.asked;
    const inputs = Array.from({ length: 50 }, (_, n) => `line ${n}`);
    const turns: { turnId: string }[] = [];
    for (const input of inputs) turns.push(await client.enqueue({ input, sessionId }));
    const others = await Promise.all(
      Array.from({ length: 10 }, (_, n) => client.enqueue({ input: 'line', sessionId: `o${n}` })),
    );
    for (const { turnId } of others) {
      expect(await client.result(turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    }
    const ends = Promise.all(first.map((worker) => worker.end('SIGTERM')));
    await eventually('a worker without anything to do that is gone', () =>
      first.some(({ child }) => child.exitCode === 0) ? true : undefined,
    );
    hold.release();
    expect(await ends).toEqual([0, 0]);
    expect(await client.result(long.turnId)).toMatchObject({ output: 'let go', attempts: 1 });

    const second = [await world.worker(env), await world.worker(env)];
    for (const { turnId } of turns) {
      expect(await client.result(turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    }
    expect(await saidIn(world, long.turnId)).toEqual(['the long one', ...inputs]);
    for (const worker of [...first, ...second]) {
      expect(worker.log()).not.toMatch(/missing lock|lockRenewalFailed|failed/i);
    }
    await Promise.all(second.map((worker) => worker.end()));
  });
});
