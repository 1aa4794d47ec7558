import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../dist/producer/index.js';
import { Figures } from '../sandbox/figures.js';
import { atATime, startOurs } from './drain.js';

/** @typedef {import('./redis.js').PrivateRedis} PrivateRedis */

const warmUp = 50;
const pauseMs = 20;

/**
 * The time from the call of `enqueue`, and from its answer, to the model call, of a worker that waits for turns; one turn at a time.
 * @param {PrivateRedis} redis @param {number} turns
 */
export async function measureFirstByte(redis, turns) {
  const folder = await redis.empty();
  const figures = new Figures();
  let onCall = () => {};
  const worker = await startOurs(redis, folder, atATime(1), () => onCall());
  const client = createClient({ redisUrl: redis.url, dataDir: folder });
  try {
    for (let turn = 0; turn < warmUp + turns; turn += 1) {
      const called = new Promise((resolve) => (onCall = () => resolve(performance.now())));
      const startedAt = performance.now();
      const { turnId } = await client.enqueue({ input: 'go' });
      const answeredAt = performance.now();
      const calledAt = await called;
      await client.result(turnId);
      if (turn >= warmUp) {
        figures.note('enqueue called to first byte', calledAt - startedAt);
        figures.note('enqueue answered to first byte', calledAt - answeredAt);
      }
      await sleep(pauseMs * Math.random());
    }
  } finally {
    await client.close();
    await worker.drain();
  }
  return figures;
}
