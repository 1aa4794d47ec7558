import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import type { WorkerProcess } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { openWorld, type World } from '../../support/world.js';

const everySecond = '*/1 * * * * *';
const newYear = '0 0 1 1 *';

let world: World;
let client: Client;
const workers: WorkerProcess[] = [];
beforeAll(async () => {
  world = await openWorld();
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  workers.push(await world.worker(), await world.worker());
  world.script('tick', [{ text: 'tock' }]);
});
afterAll(async () => {
  await client.close();
  await world.close();
});

interface Fired {
  readonly plannedAt: string;
  readonly turnId: string;
}

/** What the workers say of a schedule's firings. */
function firingsOf(schedule: string): Fired[] {
  return workers
    .flatMap((worker) => worker.log().split('\n'))
    .filter((line) => line.includes('"a schedule fired"'))
    .map((line) => JSON.parse(line) as Fired & { schedule: string })
    .filter((said) => said.schedule === schedule);
}

const turnsInRedis = async () => {
  const keys = await world.redis.keys('skillmill:*:turn:*');
  return keys.map((key) => /:turn:([^:]+)$/.exec(key)?.[1]).filter((id) => id !== undefined);
};

const listed = async (env = {}) => {
  const outcome = await world.run(['schedule', 'list', '--json'], env);
  return JSON.parse(outcome.stdout) as { name: string; nextAt: string }[];
};

describe('a schedule', () => {
  it('fires once for each planned time with two workers, and never after it is removed [schedules]', async () => {
    const added = await world.run(['schedule', 'add', 'clock', everySecond, 'tick', '--json']);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const { nextAt, ...rest } = JSON.parse(added.stdout) as { nextAt: string };
    expect(rest).toEqual({
      ...{ name: 'clock', cron: everySecond, timeZone: 'UTC', turn: { input: 'tick' } },
      isReplaced: false,
    });
    await eventually('five firings', () => (firingsOf('clock').length >= 5 ? true : undefined));
    const removed = await world.run(['schedule', 'remove', 'clock']);
    expect(removed).toMatchObject({ code: 0, stdout: '', stderr: 'removed clock\n' });
    // One that was due may still be on its way.
    await eventually('no firing under way', async () => {
      const lists = ['wait', 'active'].map((list) => `{skillmill-queue}:schedules:${list}`);
      return (await world.redis.exists(...lists)) === 0 ? true : undefined;
    });
    await sleep(1000);
    const fired = firingsOf('clock');
    const planned = new Set(fired.map(({ plannedAt }) => plannedAt));
    const turns = fired.map(({ turnId }) => turnId);
    expect(planned.size).toBe(fired.length);
    expect([...planned].sort()[0]).toBe(nextAt);
    expect([...planned].every((at) => at.endsWith('.000Z'))).toBe(true);
    expect((await turnsInRedis()).sort()).toEqual([...new Set(turns)].sort());
    for (const turnId of turns) {
      expect(await client.result(turnId)).toMatchObject({ status: 'completed', output: 'tock' });
    }
    await sleep(2500);
    expect(firingsOf('clock')).toHaveLength(fired.length);
    expect(await turnsInRedis()).toHaveLength(fired.length);
  });

  it('is listed with its next firing, to its tenant only, and replaced by its name [schedules]', async () => {
    const add = (...args: string[]) => world.run(['schedule', 'add', 'yearly', ...args]);
    const zone = ['--time-zone', 'Asia/Tokyo', '--session', 'party'];
    const first = await add(newYear, 'tick');
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(/^added yearly: it fires next at \d{4}-01-01T00:00:00\.000Z\n$/);
    const second = await add(newYear, 'tick \u001b[31mred', ...zone);
    expect(second.stderr).toMatch(/^replaced yearly: .* \d{4}-12-31T15:00:00\.000Z\n$/);
    const [entry, ...others] = await listed();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      ...{ name: 'yearly', cron: newYear, timeZone: 'Asia/Tokyo' },
      turn: { input: 'tick \u001b[31mred', sessionId: 'party' },
    });
    const { stdout } = await world.run(['schedule', 'list']);
    expect(stdout).toBe(
      `${String(entry?.nextAt)}  yearly  ${newYear} Asia/Tokyo  tick \\x1b[31mred\n`,
    );
    const env = { SKILLMILL_TENANT: 'other' };
    expect(await listed(env)).toEqual([]);
    expect(await world.run(['schedule', 'remove', 'yearly'], env)).toMatchObject({ code: 2 });
    const removed = await world.run(['schedule', 'remove', 'yearly', '--json']);
    expect(JSON.parse(removed.stdout)).toEqual({ name: 'yearly', outcome: 'removed' });
  });

  it('is refused with all that is wrong with it, and nothing is kept [schedules]', async () => {
    const wrong = ['a/b', '61 * * * *', 'tick', '--time-zone', 'Mars/Base', '--session', 'a b'];
    const outcome = await world.run(['schedule', 'add', ...wrong]);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    const named = ['name: ', 'cron: ', 'timeZone: ', 'turn.sessionId: '];
    for (const fault of named) expect(outcome.stderr).toContain(fault);
    const never = await world.run(['schedule', 'add', 'never', '0 0 31 2,4 *', 'tick', '--json']);
    expect(never.code).toBe(2);
    expect(JSON.parse(never.stdout)).toMatchObject({ error: { code: 'INPUT_INVALID' } });
    for (const option of ['--key=k', '--delay=5']) {
      const refused = await world.run(['schedule', 'add', 'late', newYear, 'tick', option]);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
    }
    const missing = await world.run(['schedule', 'remove', 'missing']);
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toContain('no schedule missing');
    expect(await listed()).toEqual([]);
  });
});
