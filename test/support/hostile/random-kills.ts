import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createClient } from '../../../src/producer/index.js';
import { eventually } from '../eventually.js';
import { randomNumbers } from '../random-numbers.js';
import { openWorld, runs } from '../world.js';

/** How many turns run, and how often their worker is killed in the midst of them. */
export interface KillPlan {
  readonly turns: number;
  readonly concurrency: number;
  readonly kills: number;
  readonly seed: number;
  /** Waits until the dead workers' signs of life have run out; otherwise these are deleted. */
  readonly waits: boolean;
}

/** Longer than a dead worker's sign of life lasts, and than the time between two sweeps. */
const sweptWithinMs = 100_000;

/** Kills workers at random while turns run: every turn ends once, and a while after a new worker started no container is left. */
export async function killAtRandom(plan: KillPlan): Promise<void> {
  console.log(`random kills with seed ${plan.seed}`);
  const random = randomNumbers(plan.seed);
  const world = await openWorld({ SKILLMILL_CONCURRENCY: String(plan.concurrency) });
  const client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  try {
    world.script('work on', [runs('echo begun; sleep 0.3; echo done'), { text: 'worked' }]);
    const turns: string[] = [];
    for (let n = 0; n < plan.turns; n += 1) {
      turns.push((await client.enqueue({ input: `work on ${n}` })).turnId);
    }
    for (let n = 0; n < plan.kills; n += 1) {
      const doomed = await world.worker();
      await eventually('a sandbox', async () =>
        (await world.sandboxes()).length > 0 ? true : undefined,
      );
      await sleep(random() * 1500);
      await doomed.end('SIGKILL');
      const signs = plan.waits ? [] : await world.redis.keys('skillmill:worker:*');
      if (signs.length > 0) await world.redis.del(...signs);
    }
    const last = await world.worker();
    for (const turnId of turns) {
      const result = await client.result(turnId);
      // Whoever loses three workers is given up, and says so.
      if (result.status === 'failed') expect(result.error).toMatchObject({ code: 'WORKER_LOST' });
      else expect(result).toMatchObject({ status: 'completed', output: 'worked' });
    }
    await eventually(
      'an empty list of sandboxes',
      async () => ((await world.sandboxes()).length === 0 ? true : undefined),
      sweptWithinMs,
    );
    expect(last.child.exitCode).toBeNull();
    expect(world.model.faults).toEqual([]);
  } finally {
    await client.close();
    await world.close();
  }
}
