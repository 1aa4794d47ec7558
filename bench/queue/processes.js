import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startScriptedModel } from '../../examples/scripted-model.js';
import { enqueueTurns, Meter } from './drain.js';

/** @typedef {import('./redis.js').PrivateRedis} PrivateRedis */

export const modelMs = 200;
export const turnsAtATime = 4;
/** So many times each worker's slots are filled and empty again; the first fillings do not count. */
const fillings = 50;
const uncounted = 5;
const binary = join(import.meta.dirname, '..', '..', 'dist', 'skillmill.js');

/** Turns a second that so many worker processes make, whose model takes its time. @param {PrivateRedis} redis
 *  @param {number} workers */
export async function rateOfProcesses(redis, workers) {
  const folder = await redis.empty();
  const slots = workers * turnsAtATime;
  const turns = (fillings + 2 * uncounted) * slots;
  await enqueueTurns(redis.url, folder, turns, turns);
  const meter = new Meter(redis, fillings * slots, uncounted * slots);
  const model = await startScriptedModel(() => [
    () => {
      meter.note();
      return { text: 'Done.', delayMs: modelMs };
    },
  ]);
  const children = Array.from({ length: workers }, () =>
    spawnWorker({ REDIS_URL: redis.url, OPENAI_BASE_URL: model.baseUrl }, folder),
  );
  try {
    const { perSecond } = await Promise.race([meter.speed, ...children.map(failed)]);
    return perSecond;
  } finally {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }
    await model.close();
  }
}

/** @param {Record<string, string>} env @param {string} folder */
function spawnWorker(env, folder) {
  return spawn(process.execPath, [binary, 'worker'], {
    cwd: folder,
    env: {
      ...{ PATH: process.env['PATH'], ...env, OPENAI_MODEL: 'scripted', SKILLS_ROOT: folder },
      ...{ SKILLMILL_EXECUTOR: 'local', SKILLMILL_DATA_DIR: folder, SKILLMILL_LOG_LEVEL: 'warn' },
      SKILLMILL_CONCURRENCY: String(turnsAtATime),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Rejects when a worker ends before its time, with what it said. @param {ReturnType<typeof spawnWorker>} child @returns {Promise<never>} */
async function failed(child) {
  let said = '';
  child.stderr.on('data', (/** @type {Buffer} */ chunk) => (said += chunk.toString('utf8')));
  await once(child, 'exit');
  throw new Error(`a worker ended: ${said}`);
}
