import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createClient } from '../../dist/producer/index.js';
import { loadConfig, startWorker } from '../../dist/worker/index.js';

/** @typedef {import('./redis.js').PrivateRedis} PrivateRedis */
/** @typedef {{ perSecond: number, cpuMs: number, redisCpuMs: number }} Speed */

/** What is done before counting begins: code gets warm. */
const warmUp = 200;
const enqueuedAtATime = 50;
const inBulk = 1000;

/** Counts what is done, and times it between two of them. */
export class Meter {
  #done = 0;
  #begin = mark();
  /** @type {Promise<Speed>} */
  speed;
  /** @type {(speed: Speed) => void} */
  #resolve = () => undefined;
  /** @type {Promise<number>} */
  #redisBefore = Promise.resolve(0);

  /** @param {PrivateRedis} redis @param {number} count @param {number} [skipped] */
  constructor(redis, count, skipped = warmUp) {
    this.redis = redis;
    this.count = count;
    this.skipped = skipped;
    this.speed = new Promise((resolve) => (this.#resolve = resolve));
  }

  note() {
    this.#done += 1;
    if (this.#done === this.skipped) {
      this.#begin = mark();
      this.#redisBefore = this.redis.cpuMs();
    }
    if (this.#done === this.skipped + this.count) void this.#end();
  }

  async #end() {
    const { at, cpuMs } = mark();
    const redisCpuMs = (await this.redis.cpuMs()) - (await this.#redisBefore);
    this.#resolve({
      perSecond: (1000 * this.count) / (at - this.#begin.at),
      cpuMs: (cpuMs - this.#begin.cpuMs) / this.count,
      redisCpuMs: redisCpuMs / this.count,
    });
  }
}

function mark() {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), cpuMs: (user + system) / 1000 };
}

/** A worker in this process whose model answers at once. @param {PrivateRedis} redis @param {string} folder
 *  @param {Record<string, string>} settings @param {() => void} [onCall] */
export function startOurs(redis, folder, settings, onCall = () => undefined) {
  const config = loadConfig({
    ...{ REDIS_URL: redis.url, SKILLMILL_DATA_DIR: folder, SKILLS_ROOT: folder },
    ...{ OPENAI_MODEL: 'none', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
    ...{ SKILLMILL_EXECUTOR: 'local', SKILLMILL_LOG_LEVEL: 'warn' },
    ...settings,
  });
  const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 1 };
  return startWorker(config, {
    model: {
      call: () => {
        onCall();
        return Promise.resolve({ text: 'Done.', toolCalls: [], finish: 'stop', usage });
      },
    },
  });
}

/** How many turns a worker has at a time. @param {number} concurrency */
export function atATime(concurrency) {
  return { SKILLMILL_CONCURRENCY: String(concurrency) };
}

/** Puts turns in, the sessions taking turns; gives how many a second. @param {string} redisUrl @param {string} folder
 *  @param {number} turns @param {number} sessions */
export async function enqueueTurns(redisUrl, folder, turns, sessions) {
  const client = createClient({ redisUrl, dataDir: folder });
  try {
    return await inParallel(turns, (at) =>
      client.enqueue({ input: 'go', sessionId: `session-${at % sessions}` }),
    );
  } finally {
    await client.close();
  }
}

/** A backlog of turns, drained by one worker in this process. @param {PrivateRedis} redis
 *  @param {{ turns: number, sessions: number, concurrency: number }} load */
export async function drainOurs(redis, { turns, sessions, concurrency }) {
  const folder = await redis.empty();
  await enqueueTurns(redis.url, folder, turns, sessions);
  const meter = new Meter(redis, turns - warmUp);
  const worker = await startOurs(redis, folder, atATime(concurrency), () => meter.note());
  try {
    return await meter.speed;
  } finally {
    await worker.drain();
  }
}

/** The same for jobs of a worker of BullMQ that returns at once. @param {PrivateRedis} redis
 *  @param {{ jobs: number, concurrency: number }} load */
export async function drainBare(redis, { jobs, concurrency }) {
  await redis.empty();
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  const gone = { removeOnComplete: true, removeOnFail: true };
  const queue = new Queue('bare', { connection });
  for (let added = 0; added < jobs; added += inBulk) {
    const bulk = Array.from({ length: inBulk }, () => ({ name: 'job', data: {}, opts: gone }));
    await queue.addBulk(bulk);
  }
  const meter = new Meter(redis, jobs - warmUp);
  const note = () => {
    meter.note();
    return Promise.resolve();
  };
  const worker = new Worker('bare', note, {
    ...{ connection, concurrency },
    removeOnComplete: { count: 0 },
  });
  try {
    return await meter.speed;
  } finally {
    await worker.close();
    await queue.close();
    connection.disconnect();
  }
}

/** Does the work `count` times, some at a time; gives how often a second.
 *  @param {number} count @param {(at: number) => Promise<unknown>} work */
async function inParallel(count, work) {
  const startedAt = performance.now();
  let begun = 0;
  const go = async () => {
    while (begun < count) {
      begun += 1;
      await work(begun - 1);
    }
  };
  await Promise.all(Array.from({ length: enqueuedAtATime }, go));
  return (1000 * count) / (performance.now() - startedAt);
}
