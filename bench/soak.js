/**
 * Does what is kept stay the same while turns come and go? `npm run bench:soak [seconds]`. One worker in this process, a model that answers
 * at once, sessions of five turns; results and sessions are kept for 5 s. After a first part that fills what is kept, each part's end
 * tells Redis' memory and keys and this process' heap; the last one's are compared with the first's. Needs `redis-server`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../dist/producer/index.js';
import { startOurs } from './queue/drain.js';
import { PrivateRedis } from './queue/redis.js';
import { line } from './sandbox/figures.js';

const seconds = Number(process.argv[2] ?? 120);
const parts = 6;
const atATime = 8;
const turnsPerSession = 5;
const settings = {
  SKILLMILL_CONCURRENCY: String(atATime),
  SKILLMILL_RESULT_TTL: '5',
  SKILLMILL_SESSION_TTL: '5',
};

const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
const redis = await PrivateRedis.start(folder);
try {
  const data = await redis.empty();
  const worker = await startOurs(redis, data, settings);
  const client = createClient({ redisUrl: redis.url, dataDir: data });
  /** @type {number[][]} */
  const seen = [];
  let turns = 0;
  line([`${seconds} s`, 'turns', 'keys', 'Redis, MiB', 'heap, MiB']);
  for (let part = 0; part < parts; part += 1) {
    const until = performance.now() + (1000 * seconds) / parts;
    const go = async () => {
      while (performance.now() < until) {
        turns += 1;
        const sessionId = `session-${Math.floor(turns / turnsPerSession)}`;
        const { turnId } = await client.enqueue({ input: 'go', sessionId });
        await client.result(turnId);
      }
    };
    await Promise.all(Array.from({ length: atATime }, go));
    globalThis.gc?.();
    const figures = [
      await redis.client.dbsize(),
      (await memoryOf(redis)) / 2 ** 20,
      process.memoryUsage().heapUsed / 2 ** 20,
    ];
    line([part === 0 ? 'filling' : `part ${part}`, String(turns), ...figures.map(shown)]);
    if (part > 0) seen.push(figures);
  }
  const growth = seen.at(-1)?.map((value, at) => (value / (seen[0]?.[at] ?? 0)).toFixed(2)) ?? [];
  line(['last / first part', '', ...growth]);
  await client.close();
  await worker.drain();
} finally {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
}

/** @param {number} value */
function shown(value) {
  return value.toFixed(1);
}

/** What Redis' data takes, in bytes. @param {PrivateRedis} server */
async function memoryOf({ client }) {
  const info = await client.info('memory');
  return Number(/^used_memory_dataset:(\d+)/m.exec(info)?.[1]);
}
