import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../src/producer/index.js';
import type { GarbageReport } from '../../../src/shared/garbage/garbage-count.js';
import type { TurnResult } from '../../../src/shared/contracts/index.js';
import { eventually } from '../../support/eventually.js';
import { openWorld, runs, type World } from '../../support/world.js';

/** GARBAGE_TURNS=1000 is the full size. */
const turns = Number(process.env['GARBAGE_TURNS'] ?? 40);
const sessions = 12;

let world: World;
let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skillmill-test-'));
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local', SKILLMILL_DATA_DIR: dir });
});
afterAll(async () => {
  await world.close();
  await rm(dir, { recursive: true, force: true });
});

async function gc(...more: string[]): Promise<GarbageReport> {
  const outcome = await world.run(['gc', '--grace', '1', '--json', ...more]);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(outcome.stdout) as GarbageReport;
}

it(
  'nothing that is referred to goes while turns run and garbage is collected over and over; then all of it goes [garbage]',
  async () => {
    await world.worker({ SKILLMILL_CONCURRENCY: '8' });
    const client = createClient({
      redisUrl: world.env['REDIS_URL'] ?? '',
      dataDir: dir,
    });
    onTestFinished(() => client.close());
    const script = (n: number) => {
      // Each writes a small file, and every fifth one that goes to the store; half of them say what others say too.
      const size = n % 5 === 0 ? 300_000 : 20;
      const seed = n % 2 === 0 ? n : n % 10;
      const make = `mkdir -p out && head -c ${size} /dev/zero | tr '\\0' '${String(seed % 10)}' > out/f && echo ${seed} >> out/f`;
      return [runs(make, { output_files: ['out/f'], save_as_artifacts: true }), { text: 'done' }];
    };
    for (let n = 0; n < turns; n += 1) world.script(`load ${n};`, script(n));
    const enqueued = [];
    for (let n = 0; n < turns; n += 1) {
      enqueued.push(
        await client.enqueue({ sessionId: `load-${n % sessions}`, input: `load ${n};` }),
      );
    }
    const load = { runs: true };
    const results = Promise.all(enqueued.map(({ turnId }) => client.result(turnId)));
    const ended = results.finally(() => void (load.runs = false));
    let collections = 0;
    while (load.runs) {
      await gc();
      collections += 1;
    }
    expect(collections).toBeGreaterThan(1);
    const all = await ended;
    await gc();
    let fetched = 0;
    for (const { status, artifacts } of all) {
      expect(status).toBe('completed');
      for (const artifact of artifacts) {
        const bytes = await buffer(await client.openArtifact(artifact));
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(artifact.sha256);
        fetched += 1;
      }
    }
    expect(fetched).toBe(turns);
    await everythingGone(all);
  },
  Math.max(180_000, turns * 1500),
);

/** Sessions are reset; results and the notes of turns go as their time would have it. */
async function everythingGone(all: readonly TurnResult[]): Promise<void> {
  for (const sessionId of new Set(all.map((result) => result.sessionId))) {
    const outcome = await world.run(['session', 'reset', sessionId]);
    expect(outcome).toMatchObject({ code: 0, stdout: '' });
  }
  const turnKeys = await world.redis.keys('skillmill:{*}:turn:*');
  await world.redis.del(...turnKeys);
  expect((await gc('--dry-run')).references).toBe(0);
  await eventually('a collection that keeps nothing', async () => {
    const { store, redis } = await gc();
    return store?.kept.blobs === 0 && redis.kept.blobs === 0 ? true : undefined;
  });
  const after = await gc();
  expect([after.store?.seen.blobs, after.redis.seen.blobs]).toEqual([0, 0]);
  expect(await world.redis.keys('*blob:*')).toEqual([]);
}

it('a store that another deployment has claimed is left alone until it is taken over [garbage]', async () => {
  await world.redis.set('skillmill:deployment', 'another');
  const outcome = await world.run(['gc']);
  expect(outcome.code).toBe(0);
  expect(outcome.stdout).toMatch(/^Redis: 0 seen .*\n$/);
  expect(outcome.stderr).toContain('skillmill gc --take-over');
  const over = await world.run(['gc', '--take-over']);
  expect(over.stdout).toMatch(/store: 0 seen/);
  const wrong = await world.run(['gc', '--grace', 'soon']);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
});
