import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import { engineAnswers } from '../../support/docker.js';
import { eventually } from '../../support/eventually.js';
import { killAtRandom } from '../../support/hostile/random-kills.js';
import { openWorld, runs, type World } from '../../support/world.js';

const isEngine = await engineAnswers();

describe.skipIf(!isEngine)('sandboxes of a worker that was killed', () => {
  let world: World;
  let client: Client;
  beforeAll(async () => {
    world = await openWorld();
    client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  });
  afterAll(async () => {
    await client.close();
    await world.close();
  });

  it('are removed by two workers that start at once; those of the living stay [left-behind]', async () => {
    const first = hold(world, 'hold five');
    const doomed = await world.worker({ SKILLMILL_CONCURRENCY: '5' });
    const turns = [];
    for (let n = 0; n < 5; n += 1) turns.push(await client.enqueue({ input: `hold five ${n}` }));
    await eventually('five sandboxes', async () =>
      (await world.sandboxes()).length === 5 ? true : undefined,
    );
    const signs = await world.redis.keys('skillmill:worker:*');

    const living = await world.worker({ SKILLMILL_CONCURRENCY: '1' });
    const other = hold(world, 'hold one');
    const kept = await client.enqueue({ input: 'hold one' });
    const six = await eventually('a sixth sandbox', async () => {
      const all = await world.sandboxes();
      return all.length === 6 ? all : undefined;
    });
    await doomed.end('SIGKILL');
    first.release();
    // As if the time of its sign of life were over.
    await world.redis.del(...signs);
    const cleaners = await Promise.all([world.worker(), world.worker()]);

    for (const { turnId } of turns) {
      expect(await client.result(turnId)).toMatchObject({ status: 'completed', output: 'held' });
    }
    const left = await eventually('only the living worker’s sandbox', async () => {
      const all = await world.sandboxes();
      return all.length === 1 ? all : undefined;
    });
    expect(six).toContain(left[0]);
    other.release();
    expect(await client.result(kept.turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    await world.noSandboxLeft();
    for (const worker of [living, ...cleaners]) {
      expect(worker.log()).not.toMatch(/\b40[49]\b|no such container|already in progress/i);
    }
  });

  it('are removed by whoever starts after random kills [left-behind, worker-killed]', async () => {
    const seed = Math.floor(Math.random() * 2 ** 32);
    await killAtRandom({ turns: 20, concurrency: 4, kills: 2, seed, waits: false });
  });
});

/** Turns with this beginning run a command and then wait, with their sandbox, until they are released. */
function hold(world: World, beginning: string): { release: () => void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  world.script(beginning, [runs('echo held'), () => released.then(() => ({ text: 'held' }))]);
  return { release: () => release() };
}
