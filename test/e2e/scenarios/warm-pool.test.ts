import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { engineAnswers } from '../../support/docker.js';
import { eventually } from '../../support/eventually.js';
import { openWorld, runs, type World } from '../../support/world.js';

const isEngine = await engineAnswers();

describe.skipIf(!isEngine)('sandboxes that are made ahead', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ SKILLMILL_POOL_SIZE: '1', SKILLMILL_CONCURRENCY: '1' });
  });
  afterAll(() => world.close());

  /** What is noted of sandboxes that serve a turn, by their names. */
  async function served(): Promise<Record<string, string>> {
    const [key] = await world.redis.keys('skillmill:worker:*:sandboxes');
    return key === undefined ? {} : await world.redis.hgetall(key);
  }

  const oneReady = () =>
    eventually('one that is ready', async () => {
      const [name, ...more] = await world.sandboxes();
      return more.length === 0 ? name?.replace('/', '') : undefined;
    });

  it('serve one turn each, which is noted, and are replaced; none is left [warm-pool]', async () => {
    const worker = await world.worker();
    const servers = new Set<string>();
    let hits = 0;
    for (let turn = 0; turn < 10 && hits < 2; turn += 1) {
      const ready = await oneReady();
      let notes: Record<string, string> = {};
      const look = async () => {
        notes = await eventually('a note', async () => {
          const all = await served();
          return Object.keys(all).length === 1 ? all : undefined;
        });
        return { text: 'looked' };
      };
      world.script(`turn ${turn}`, [runs('echo "$RUN_DIR"; pwd'), runs('ls -d "$RUN_DIR"'), look]);
      const { stdout } = await world.run(['run', `turn ${turn}`, '--json']);
      const result = turnResultSchema.parse(JSON.parse(stdout));
      expect(result).toMatchObject({ status: 'completed', output: 'looked' });
      const [[name, note] = ['', '']] = Object.entries(notes);
      expect(JSON.parse(note)).toMatchObject({
        turnId: result.turnId,
        sessionId: result.sessionId,
      });
      expect(servers.has(name)).toBe(false);
      servers.add(name);
      // One that runs but is not ready yet is passed over.
      if (name === ready) hits += 1;
      await eventually('no note', async () =>
        Object.keys(await served()).length === 0 ? true : undefined,
      );
    }
    expect(hits).toBe(2);
    expect(servers).not.toContain(await oneReady());
    expect(await worker.end()).toBe(0);
    expect(await world.sandboxes()).toEqual([]);
  });

  it('are not made by a worker that is told so; a wrong setting is refused [warm-pool, config-wrong]', async () => {
    const { code, stderr } = await world.run(['worker'], {
      SKILLMILL_POOL_SIZE: 'many',
      SKILLMILL_POOL_REFILL: '0',
      SKILLMILL_NETWORK: 'host',
    });
    expect(code).toBe(2);
    for (const name of ['POOL_SIZE', 'POOL_REFILL', 'NETWORK']) {
      expect(stderr).toContain(`SKILLMILL_${name}`);
    }
    const away = await world.run(['worker'], { SKILLMILL_NETWORK: 'no-such-network' });
    expect(away.code).toBe(3);
    expect(away.stderr).toContain('no network no-such-network');
    const worker = await world.worker({ SKILLMILL_POOL_SIZE: '0' });
    expect(await worker.end()).toBe(0);
    expect(await world.sandboxes()).toEqual([]);
  });
});
