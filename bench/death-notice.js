/**
 * How soon the turn of a worker that died without a word runs elsewhere: `npm run bench:death [rounds]`. In each round one of two workers
 * is killed with SIGKILL in the middle of a model call; the time ends when the model server gets that call again from the other. Settings
 * are the defaults. REDIS_URL names a Redis to use; without it a private `redis-server` is started.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../dist/producer/index.js';
import { startScriptedModel } from '../examples/scripted-model.js';
import { Figures } from './sandbox/figures.js';

/** @typedef {{ worker: string, at: number }} ModelCall */
/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

const rounds = Number(process.argv[2] ?? 20);
/** Checks of the living come at intervals: a round must not always begin at the same place of one. */
const longestPauseMs = 3000;
const row = 'SIGKILL to the call elsewhere';
const names = ['worker-a', 'worker-b'];
const project = join(import.meta.dirname, '..');

/** Model calls by the text of their turn; who waits for one. @type {Map<string, ModelCall[]>} */
const calls = new Map();
let onCall = () => {};

const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
/** @type {Map<string, ChildProcess>} */
const processes = new Map();
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
  const redisUrl = process.env['REDIS_URL'] ?? (await startRedis());
  const client = createClient({ redisUrl, dataDir: folder });
  const figures = new Figures();
  try {
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(names.map((name) => startWorker(name, redisUrl)));
      figures.note(row, await measure(client, `round ${round}`));
    }
  } finally {
    await client.close();
  }
  const seconds = [0.5, 0.95, 1].map((share) => (figures.percentile(row, share) / 1000).toFixed(1));
  const [p50, p95, max] = seconds;
  console.log(`${row}: p50 ${p50} s, p95 ${p95} s, max ${max} s (${rounds} rounds)`);
} finally {
  for (const child of processes.values()) await end(child, 'SIGKILL');
  await model.close();
  await rm(folder, { recursive: true, force: true });
}

/** One round, in ms. @param {import('../dist/producer/index.js').Client} client @param {string} text */
async function measure(client, text) {
  await sleep(Math.random() * longestPauseMs);
  const { turnId } = await client.enqueue({ input: text });
  const first = await callOf(text, 0);
  const doomed = processes.get(first.worker);
  if (doomed === undefined) throw new Error(`${first.worker} is none of ours`);
  await sleep(Math.random() * 1000);
  const killedAt = performance.now();
  doomed.kill('SIGKILL');
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

/** Starts the worker of this name unless it lives, and waits until it is ready. @param {string} name @param {string} redisUrl */
async function startWorker(name, redisUrl) {
  const before = processes.get(name);
  if (before !== undefined && isAlive(before)) return;
  const child = spawn(process.execPath, [join(project, 'dist', 'skillmill.js'), 'worker'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      REDIS_URL: redisUrl,
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: name,
      SKILLS_ROOT: join(project, 'examples', 'skills'),
      SKILLMILL_EXECUTOR: 'local',
      SKILLMILL_DATA_DIR: folder,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  processes.set(name, child);
  let said = '';
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (/** @type {Buffer} */ chunk) => {
      said += chunk.toString('utf8');
      if (said.includes('is ready')) resolve(undefined);
    });
    child.once('exit', () => reject(new Error(`a worker ended: ${said}`)));
  });
}

/** A private server; gives its URL. */
async function startRedis() {
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
    { stdio: 'ignore' },
  );
  processes.set('redis', child);
  await once(child, 'spawn');
  return `redis://127.0.0.1:${port}`;
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** @param {ChildProcess} child */
function isAlive(child) {
  return child.exitCode === null && child.signalCode === null;
}

/** @param {ChildProcess} child @param {NodeJS.Signals} signal */
async function end(child, signal) {
  if (!isAlive(child)) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
