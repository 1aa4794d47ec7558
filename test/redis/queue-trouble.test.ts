import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTurnId, sessionIdSchema } from '../../src/shared/contracts/index.js';
import type { Logger } from '../../src/shared/logging/logger.js';
import { startTurnConsumer, type ClaimOutcome } from '../../src/shared/queue/turn-consumer.js';
import { createTurnQueue, type TurnPointer } from '../../src/shared/queue/turn-queue.js';
import { closeRedis, connectRedis } from '../../src/shared/redis/redis-client.js';
import { eventually } from '../support/eventually.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { hasRedisServer, startPrivateRedis } from '../support/redis-server.js';
import { tenant } from './session-line.js';
import { jobCounts } from './use-redis.js';

const sessionId = sessionIdSchema.parse('s1');
const pointer = (): TurnPointer => ({ tenant, sessionId, turnId: makeTurnId(tenant, sessionId) });

/** A server, an idle consumer behind a proxy, and a queue that goes past it. */
async function openQueue(answer: () => Promise<ClaimOutcome> = () => done) {
  const server = await startPrivateRedis();
  const proxy = await startFaultProxy(server.url);
  const client = connectRedis([proxy.url], 'worker');
  const direct = new Redis(server.url, { maxRetriesPerRequest: null });
  direct.on('error', () => undefined);
  const queue = createTurnQueue(direct);
  const warnings: string[] = [];
  const logger: Logger = {
    log: (_level, message) => warnings.push(message),
    child: () => logger,
  };
  const taken: string[] = [];
  const handler = ({ turnId }: TurnPointer) => {
    taken.push(turnId);
    return answer();
  };
  const consumer = startTurnConsumer({ client, concurrency: 2, handler, logger });
  onTestFinished(async () => {
    await consumer.drain();
    closeRedis(client);
    await queue.close();
    direct.disconnect();
    await proxy.close();
    await server.stop();
  });
  const takes = async (given: TurnPointer) => {
    await eventually('the turn', () => taken.includes(given.turnId) || undefined, 20_000);
  };
  const first = pointer();
  await queue.add(first, { priority: 1 });
  await takes(first);
  const isIdle = async () => {
    const { waiting, running } = await jobCounts(direct);
    return waiting + running === 0 ? true : undefined;
  };
  return { server, proxy, direct, queue, consumer, taken, warnings, takes, isIdle };
}

const done = Promise.resolve<ClaimOutcome>({ kind: 'done' });

describe.skipIf(!hasRedisServer())('a consumer', { timeout: 40_000 }, () => {
  it('takes the next turn after its connections were swallowed', async () => {
    const { proxy, queue, takes, isIdle } = await openQueue();
    await eventually('an empty queue', isIdle);
    proxy.freeze();
    const next = pointer();
    await queue.add(next, { priority: 1 });
    await takes(next);
  });

  it('takes the next turn after Redis was away for longer than it waits for a job', async () => {
    const { server, direct, queue, takes } = await openQueue();
    await server.halt();
    await sleep(9000);
    await server.resume();
    await direct.ping();
    const next = pointer();
    await queue.add(next, { priority: 1 });
    await takes(next);
  });

  it('waits while Redis is full, and says so now and then only', async () => {
    const { direct, queue, takes, warnings, isIdle } = await openQueue();
    await eventually('an empty queue', isIdle);
    const next = pointer();
    await queue.add(next, { priority: 1 });
    await direct.config('SET', 'maxmemory', '1');
    const other = pointer();
    await expect(queue.add(other, { priority: 1 })).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
    });
    await sleep(3000);
    await direct.config('SET', 'maxmemory', '0');
    await takes(next);
    expect(warnings.length).toBeLessThan(10);
  });

  it('stops while Redis is away', { timeout: 15_000 }, async () => {
    const { server, consumer } = await openQueue();
    await server.halt();
    await sleep(500);
    await consumer.drain();
  });

  it('waits for what runs as it stops, also while Redis is away', async () => {
    const turn = new EventEmitter();
    const ended = once(turn, 'end').then(() => done);
    const { server, consumer } = await openQueue(() => ended);
    await server.halt();
    let isDrained = false;
    const drained = consumer.drain().then(() => (isDrained = true));
    await sleep(4000);
    expect(isDrained).toBe(false);
    turn.emit('end');
    await drained;
  });
});
