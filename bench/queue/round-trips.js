import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { queueName, queuePrefix } from '../../dist/shared/redis/keys.js';

const scriptFolder = join(import.meta.dirname, '..', '..', 'dist', 'shared', 'redis', 'scripts');
const bullKeys = `${queuePrefix}:${queueName}:`;

/**
 * What clients send to a Redis, by command: MONITOR tells them from what scripts call, which INFO commandstats counts together.
 * What is BullMQ's own is told by its keys. A server that is watched is slow: nothing is timed meanwhile.
 *
 * @template Result @param {Redis} client @param {() => Promise<Result>} work
 * @returns {Promise<{ bullmq: Map<string, number>, ours: Map<string, number> }>}
 */
export async function roundTripsOf(client, work) {
  const names = await scriptNames();
  /** @type {Record<'bullmq' | 'ours', Map<string, number>>} */
  const counts = { bullmq: new Map(), ours: new Map() };
  const monitor = await client.monitor();
  monitor.on('monitor', (_time, /** @type {string[]} */ args, /** @type {string} */ source) => {
    if (source === 'lua') return;
    const [command = '', first = ''] = args;
    const isBullMq = args.some((arg) => arg.startsWith(bullKeys));
    const isOurScript = !isBullMq && command.toLowerCase() === 'evalsha';
    const name = isOurScript ? (names.get(first) ?? command) : command.toLowerCase();
    const side = isBullMq ? counts.bullmq : counts.ours;
    side.set(name, (side.get(name) ?? 0) + 1);
  });
  try {
    await work();
    // What was sent before this is told before it.
    await client.echo('end of the count');
  } finally {
    monitor.disconnect();
  }
  return counts;
}

/** Our scripts' names by the hash that a client sends. */
async function scriptNames() {
  /** @type {Map<string, string>} */
  const names = new Map();
  for (const file of await readdir(scriptFolder)) {
    if (!file.endsWith('.js')) continue;
    /** @type {Record<string, unknown>} */
    const module = await import(join(scriptFolder, file));
    for (const script of Object.values(module).filter(isScript)) {
      const client = new Redis({ lazyConnect: true });
      client.evalsha = (/** @type {unknown[]} */ ...[sha]) => {
        names.set(String(sha), file.replace(/\.js$/, ''));
        return Promise.reject(new Error('only its name was asked for'));
      };
      await script.run(client, [], []).catch(() => undefined);
    }
  }
  return names;
}

/** @param {unknown} value @returns {value is import('../../dist/shared/redis/script.js').Script<unknown>} */
function isScript(value) {
  return typeof value === 'object' && value !== null && 'run' in value;
}
