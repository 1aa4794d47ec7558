import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeTurnId, sessionIdSchema } from '../../src/shared/contracts/index.js';
import type { Logger } from '../../src/shared/logging/logger.js';
import {
  startTurnConsumer,
  type ClaimHandler,
  type ClaimOutcome,
} from '../../src/shared/queue/turn-consumer.js';
import { createTurnQueue, type TurnPointer } from '../../src/shared/queue/turn-queue.js';
import { eventually } from '../support/eventually.js';
import { tenant } from './session-line.js';
import { jobCounts, useRedis } from './use-redis.js';

const redis = useRedis();
const normal = { priority: 1 };
const sessionId = sessionIdSchema.parse('s1');
const pointer = (): TurnPointer => ({ tenant, sessionId, turnId: makeTurnId(tenant, sessionId) });

/** A queue and the means to consume it, on a connection that ends with the test. */
function openQueue() {
  const client = new Redis(redis.url, { maxRetriesPerRequest: null });
  const queue = createTurnQueue(client);
  const warnings: string[] = [];
  const logger: Logger = { log: (_level, message) => warnings.push(message), child: () => logger };
  const ends: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const end of ends) await end();
    await queue.close();
    client.disconnect();
  });
  const consume = (handler: ClaimHandler, concurrency = 1) => {
    const consumer = startTurnConsumer({ client, concurrency, handler, logger });
    ends.push(() => consumer.drain());
    return consumer;
  };
  return { queue, consume, warnings };
}

const empty = async () => {
  const { waiting, running } = await jobCounts(redis.client);
  return waiting + running === 0 ? true : undefined;
};

describe('turn queue', () => {
  it('takes a turn id as a job’s id, and hands the pointer over', async () => {
    const { queue, consume } = openQueue();
    const given = pointer();
    await queue.add(given, normal);
    expect(await jobCounts(redis.client)).toEqual({ waiting: 1, running: 0 });
    const got: TurnPointer[] = [];
    consume((taken) => {
      got.push(taken);
      return Promise.resolve({ kind: 'done' });
    });
    await eventually('the turn', () => got[0]);
    await eventually('an empty queue', empty);
    expect(got).toEqual([given]);
    expect(await redis.client.keys(`*${given.turnId}*`), 'a done job leaves nothing').toEqual([]);
  });

  it('runs a turn once that was added twice, also as a new head', async () => {
    const { queue, consume } = openQueue();
    const [first, last] = [pointer(), pointer()];
    await queue.add(first, normal);
    await queue.add(first, normal);
    await queue.addHead(tenant, sessionId, { turnId: first.turnId, ...normal });
    await queue.add(last, normal);
    const got: string[] = [];
    consume(({ turnId }) => {
      got.push(turnId);
      return Promise.resolve({ kind: 'done' });
    });
    await eventually('the last turn', () => got.includes(last.turnId) || undefined);
    expect(got).toEqual([first.turnId, last.turnId]);
  });

  it('takes high before normal before low, and none that is not due', async () => {
    const { queue, consume } = openQueue();
    const [low, normalOne, high, later] = [pointer(), pointer(), pointer(), pointer()];
    await queue.add(later, { priority: 0, delayMs: 3_600_000 });
    await queue.add(low, { priority: 2 });
    await queue.add(normalOne, normal);
    await queue.add(high, { priority: 0 });
    const [unknown, another] = [pointer().turnId, pointer().turnId];
    const idle = await queue.idle([unknown, later.turnId, low.turnId, another]);
    expect([...idle]).toEqual([
      [unknown, 'missing'],
      [later.turnId, 'delayed'],
      [another, 'missing'],
    ]);
    const got: string[] = [];
    consume(({ turnId }) => {
      got.push(turnId);
      return Promise.resolve({ kind: 'done' });
    });
    await eventually('three turns', () => (got.length === 3 ? true : undefined));
    expect(got).toEqual([high.turnId, normalOne.turnId, low.turnId]);
  });

  it('runs a turn again that is added after it was done', async () => {
    const { queue, consume } = openQueue();
    const given = pointer();
    let runs = 0;
    consume(() => {
      runs += 1;
      return Promise.resolve({ kind: 'done' });
    });
    await queue.add(given, normal);
    await eventually('the first run', () => (runs === 1 ? empty() : undefined));
    await queue.add(given, normal);
    await eventually('the second run', () => (runs === 2 ? empty() : undefined));
  });

  it('refuses a head that is no turn id', async () => {
    const { queue } = openQueue();
    expect(() => queue.addHead(tenant, sessionId, { turnId: 'nonsense', ...normal })).toThrow();
    expect(await jobCounts(redis.client)).toEqual({ waiting: 0, running: 0 });
  });

  it('brings a delayed turn back, and leaves the slot to others meanwhile', async () => {
    const { queue, consume } = openQueue();
    const [busy, other] = [pointer(), pointer()];
    const got: string[] = [];
    let isFree = false;
    consume(({ turnId }) => {
      got.push(turnId);
      if (turnId === other.turnId) isFree = true;
      return Promise.resolve(isFree ? { kind: 'done' } : { kind: 'delay', ms: 20 });
    });
    await queue.add(busy, normal);
    await eventually('the first try', () => (got.length > 0 ? true : undefined));
    await queue.add(other, normal);
    await eventually('an empty queue', () => (isFree ? empty() : undefined));
    expect(got.at(-1) === busy.turnId || got.at(-1) === other.turnId).toBe(true);
    expect(got.filter((turnId) => turnId === other.turnId)).toHaveLength(1);
    expect(got.filter((turnId) => turnId === busy.turnId).length).toBeGreaterThan(1);
  });

  it.each([0, 1, 2])(
    'gives a turn that comes back at once to a worker that waits (priority %i)',
    async (priority) => {
      const { queue, consume } = openQueue();
      const given = pointer();
      const got: string[] = [];
      const handler =
        (name: string, outcome: ClaimOutcome): ClaimHandler =>
        () => {
          got.push(name);
          return Promise.resolve(outcome);
        };
      const first = consume(handler('first', { kind: 'delay', ms: 0 }));
      await queue.add(given, { priority });
      await eventually('the first worker', () => got[0]);
      await first.drain();
      consume(handler('second', { kind: 'done' }));
      await eventually('the second worker', () => got.includes('second') || undefined);
    },
  );

  it('ends the delay of a job, and does nothing where there is none', async () => {
    const { queue, consume } = openQueue();
    const later = pointer();
    await queue.add(later, { priority: 1, delayMs: 3_600_000 });
    await queue.hurry(pointer().turnId);
    await queue.hurry(later.turnId);
    await queue.hurry(later.turnId);
    expect((await queue.idle([later.turnId])).size).toBe(0);
    const got: string[] = [];
    consume(({ turnId }) => {
      got.push(turnId);
      return Promise.resolve({ kind: 'done' });
    });
    await eventually('the turn', () => got[0]);
    await eventually('an empty queue', empty);
    expect(got).toEqual([later.turnId]);
  });

  it('goes on after a handler that throws', async () => {
    const { queue, consume, warnings } = openQueue();
    const [bad, good] = [pointer(), pointer()];
    const got: string[] = [];
    consume(({ turnId }) => {
      got.push(turnId);
      if (turnId === bad.turnId) throw new Error('a fault of ours');
      return Promise.resolve({ kind: 'done' });
    });
    await queue.add(bad, normal);
    await queue.add(good, normal);
    await eventually('an empty queue', () => (got.length === 2 ? empty() : undefined));
    expect(got).toEqual([bad.turnId, good.turnId]);
    expect(warnings).toContain('a job failed; its turn will be taken up again');
    await queue.add(bad, normal);
    await eventually('the failed turn again', () => got[2]);
  });

  it('runs as many at once as it may, and a drain waits for them and takes no other', async () => {
    const { queue, consume } = openQueue();
    const pointers = [pointer(), pointer(), pointer()];
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const begun: string[] = [];
    const ended: string[] = [];
    const consumer = consume(async ({ turnId }) => {
      begun.push(turnId);
      await gate;
      ended.push(turnId);
      return { kind: 'done' };
    }, 2);
    for (const each of pointers) await queue.add(each, normal);
    await eventually('two that run', () => (begun.length === 2 ? true : undefined));
    expect(await jobCounts(redis.client)).toEqual({ waiting: 1, running: 2 });
    const drained = consumer.drain();
    expect(consumer.drain(), 'a second drain is the first').toBe(drained);
    open();
    await drained;
    expect(ended).toHaveLength(2);
    expect(begun).toHaveLength(2);
    expect(await jobCounts(redis.client)).toEqual({ waiting: 1, running: 0 });
  });

  it('says REDIS_UNAVAILABLE when it cannot add', async () => {
    const client = new Redis(redis.url, { lazyConnect: true, maxRetriesPerRequest: 0 });
    client.on('error', () => undefined);
    const queue = createTurnQueue(client);
    client.disconnect();
    await expect(queue.add(pointer(), normal)).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    await queue.close().catch(() => undefined);
  });
});
