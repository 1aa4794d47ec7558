/**
 * How soon the turn of a worker that died without a word runs elsewhere: `npm run bench:death [rounds]`. In each round one of two workers
 * is killed with SIGKILL in the middle of a model call; the time ends when the model server gets that call again from the other. Settings
 * are the defaults. Needs `redis-server`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../dist/producer/index.js';
import { startScriptedModel } from '../examples/scripted-model.js';
import { PrivateRedis } from './queue/redis.js';
import { WorkerProcess } from './queue/worker-process.js';
import { Figures } from './sandbox/figures.js';

/** @typedef {{ worker: string, at: number }} ModelCall */

const rounds = Number(process.argv[2] ?? 20);
/** Checks of the living come at intervals: a round must not always begin at the same place of one. */
const longestPauseMs = 3000;
const row = 'SIGKILL to the call elsewhere';
const names = ['worker-a', 'worker-b'];

/** Model calls by the text of their turn; who waits for one. @type {Map<string, ModelCall[]>} */
const calls = new Map();
let onCall = () => {};

const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
const redis = await PrivateRedis.start(folder);
/** @type {Map<string, WorkerProcess>} */
const workers = new Map();
const model = await startScriptedModel((text) => [
  (request) => {
    const made = [...(calls.get(text) ?? []), { worker: request.model, at: performance.now() }];
    calls.set(text, made);
    onCall();
    // The first call is never answered: its worker dies with it.
    return made.length === 1 ? { text: 'never said', delayMs: 600_000 } : { text: 'done' };
  },
]);
try {
  const client = createClient({ redisUrl: redis.url, dataDir: folder });
  const figures = new Figures();
  try {
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(names.map(startWorker));
      figures.note(row, await measure(client, `round ${round}`));
    }
  } finally {
    await client.close();
  }
  const seconds = [0.5, 0.95, 1].map((share) => (figures.percentile(row, share) / 1000).toFixed(1));
  const [p50, p95, max] = seconds;
  console.log(`${row}: p50 ${p50} s, p95 ${p95} s, max ${max} s (${rounds} rounds)`);
} finally {
  for (const worker of workers.values()) await worker.end('SIGKILL');
  await redis.stop();
  await model.close();
  await rm(folder, { recursive: true, force: true });
}

/** One round, in ms. @param {import('../dist/producer/index.js').Client} client @param {string} text */
async function measure(client, text) {
  await sleep(Math.random() * longestPauseMs);
  const { turnId } = await client.enqueue({ input: text });
  const first = await callOf(text, 0);
  const doomed = workers.get(first.worker);
  if (doomed === undefined) throw new Error(`${first.worker} is none of ours`);
  await sleep(Math.random() * 1000);
  const killedAt = performance.now();
  void doomed.end('SIGKILL');
  const second = await callOf(text, 1);
  if (second.worker === first.worker) throw new Error('the dead worker called again');
  await client.result(turnId);
  const ms = second.at - killedAt;
  console.log(`${text}: ${ms.toFixed(0)} ms`);
  return ms;
}

/** Waits for a turn's nth model call. @param {string} text @param {number} nth @returns {Promise<ModelCall>} */
async function callOf(text, nth) {
  for (;;) {
    const call = calls.get(text)?.[nth];
    if (call !== undefined) return call;
    await new Promise((resolve) => {
      onCall = () => resolve(undefined);
    });
  }
}

/** Starts the worker of this name unless it lives. @param {string} name */
async function startWorker(name) {
  if (workers.get(name)?.isAlive === true) return;
  const settings = { OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: name };
  const own = { ...settings, REDIS_URL: redis.url, SKILLMILL_EXECUTOR: 'local' };
  workers.set(name, await WorkerProcess.start(folder, own));
}
