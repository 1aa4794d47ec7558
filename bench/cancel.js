/**
 * How soon a cancelled turn has its result: `npm run bench:cancel [rounds]`. One worker on default settings; the turn waits in its
 * session's line, for the model's reply, or for a command (in a container where there is Docker, see SKILLMILL_EXECUTOR). The time
 * goes from the call of `client.cancel` to the result in the client's hands. Needs `redis-server`.
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

/** @typedef {import('../dist/producer/index.js').Client} Client */

const rounds = Number(process.argv[2] ?? 100);
const rows = {
  waiting: 'waits in line',
  model: 'model call',
  command: 'command',
};
/** How far the renewals of the lease, at which a worker is told, may be shifted against the cancel. */
const shiftMs = 300;

const command = { skill: 'user-file-ops', command: 'echo begun; sleep 600' };
const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
const redis = await PrivateRedis.start(folder);
const model = await startScriptedModel((text) => [
  text === 'command'
    ? { calls: [{ name: 'skill_run', arguments: command }] }
    : { text: 'never said', delayMs: 600_000 },
]);
try {
  const worker = await WorkerProcess.start(folder, {
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: 'bench',
    REDIS_URL: redis.url,
    SKILLMILL_EXECUTOR: process.env['SKILLMILL_EXECUTOR'] ?? 'docker',
  });
  const client = createClient({ redisUrl: redis.url, dataDir: folder });
  const figures = new Figures();
  try {
    for (let round = 0; round < rounds; round += 1) await measure(client, figures, `s${round}`);
  } finally {
    await client.close();
    await worker.end('SIGTERM');
  }
  figures.print(rows.model);
} finally {
  await model.close();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
}

/** One cancel of each kind. @param {Client} client @param {Figures} figures @param {string} sessionId */
async function measure(client, figures, sessionId) {
  const running = await client.enqueue({ input: 'model', sessionId });
  const waiting = await client.enqueue({ input: 'model', sessionId });
  await seen(client, running.turnId, 'turn.started');
  await sleep(Math.random() * shiftMs);
  await figures.timed(rows.waiting, () => cancel(client, waiting.turnId));
  await figures.timed(rows.model, () => cancel(client, running.turnId));
  const { turnId } = await client.enqueue({ input: 'command', sessionId });
  await seen(client, turnId, 'tool.output');
  await sleep(Math.random() * shiftMs);
  await figures.timed(rows.command, () => cancel(client, turnId));
}

/** @param {Client} client @param {string} turnId */
async function cancel(client, turnId) {
  const outcome = await client.cancel(turnId);
  const { status } = await client.result(turnId);
  if (status !== 'cancelled') throw new Error(`${turnId}: ${outcome}, then ${status}`);
}

/** Waits for an event of a turn. @param {Client} client @param {string} turnId @param {string} type */
async function seen(client, turnId, type) {
  for await (const event of client.events(turnId)) if (event.type === type) return;
  throw new Error(`${turnId} ended without ${type}`);
}
