import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sessionIdSchema, sessionTag } from '../../src/shared/contracts/index.js';
import type { LogFields, Logger } from '../../src/shared/logging/logger.js';
import { createScheduleQueue } from '../../src/shared/queue/schedule-queue.js';
import { createTurnQueue } from '../../src/shared/queue/turn-queue.js';
import { sessionKeys } from '../../src/shared/redis/keys.js';
import { runSchedules } from '../../src/worker/run-schedules.js';
import { eventually } from '../support/eventually.js';
import { tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const sessionId = sessionIdSchema.parse('s1');
const plannedAt = Date.UTC(2026, 0, 2);

interface Said {
  readonly message: string;
  readonly fields: LogFields;
}

/** Schedules that run, and the means to hand a firing out by hand, as BullMQ does when a worker died over it. */
function openDesk() {
  const client = new Redis(redis.url, { maxRetriesPerRequest: null });
  const turns = createTurnQueue(client);
  const schedules = createScheduleQueue(client);
  const firings = new Queue('schedules', { connection: client, prefix: '{skillmill-queue}' });
  const said: Said[] = [];
  const logger: Logger = {
    log: (_level, message, fields = {}) => said.push({ message, fields }),
    child: () => logger,
  };
  const store = {
    ...{ redisUrls: [redis.url], tenant, resultTtlSeconds: 1000, sessionTtlSeconds: 5000 },
    dataDir: '/nonexistent',
  };
  const consumer = runSchedules({ redis: client, queue: turns, store, logger });
  onTestFinished(async () => {
    await consumer.drain();
    await Promise.all([turns.close(), schedules.close(), firings.close()]);
    client.disconnect();
  });
  return {
    said,
    put: (name: string) =>
      schedules.put(tenant, {
        ...{ name, cron: '0 0 1 1 *', timeZone: 'UTC', turn: { input: 'hello' } },
      }),
    fire: (name: string, request: object, atMs = plannedAt) => {
      const options = { jobId: `repeat:${tenant}/${name}:${atMs}`, removeOnComplete: true };
      return firings.add('firing', { tenant, name, request }, options);
    },
    /** The next thing that is said, as a firing's last word. */
    word: (nth: number) => eventually('word of a firing', () => said[nth - 1]),
  };
}

const turnsInRedis = async () => {
  const keys = await redis.client.keys('skillmill:*:turn:*');
  return keys.filter((key) => /:turn:[^:]+$/.test(key));
};

describe('a schedule that fires', () => {
  it('enqueues one turn for a planned time that is handed out twice', async () => {
    const { put, fire, word } = openDesk();
    await put('daily');
    await fire('daily', { input: 'hello' });
    const first = await word(1);
    expect(first).toMatchObject({
      message: 'a schedule fired',
      fields: { schedule: 'daily', plannedAt: '2026-01-02T00:00:00.000Z', isKnown: false },
    });
    await fire('daily', { input: 'hello' });
    const turnId = first.fields['turnId'];
    expect((await word(2)).fields).toMatchObject({ turnId, isKnown: true });
    expect(await turnsInRedis()).toHaveLength(1);
  });

  it('has a new session each time, or one line of turns in its own', async () => {
    const { put, fire, word } = openDesk();
    await put('daily');
    for (const [nth, more] of [{}, {}, { sessionId }, { sessionId }].entries()) {
      await fire('daily', { input: 'hello', ...more }, plannedAt + nth);
      expect((await word(nth + 1)).fields).toMatchObject({ isKnown: false });
    }
    const { line } = sessionKeys(tenant, sessionTag(tenant, sessionId));
    expect(await redis.client.zcard(line)).toBe(2);
    expect(await redis.client.keys('skillmill:*:session')).toHaveLength(3);
  });

  it('lets a busy session be when the turn says so', async () => {
    const { put, fire, word, said } = openDesk();
    await put('daily');
    const request = { input: 'hello', sessionId, onBusy: 'reject' };
    await fire('daily', request);
    await word(1);
    await fire('daily', request, plannedAt + 1);
    expect((await word(2)).message).toBe('a firing found its session busy, and enqueued nothing');
    // What is handed out again says the same as before, although its own turn makes the session busy.
    await fire('daily', request);
    expect((await word(3)).fields).toMatchObject({ isKnown: true });
    expect(await turnsInRedis()).toHaveLength(1);
    expect(said).toHaveLength(3);
  });

  it('enqueues nothing once it is removed, though the firing was due before', async () => {
    const { fire, word } = openDesk();
    await fire('daily', { input: 'hello' });
    expect((await word(1)).message).toBe('a firing came after its schedule was removed');
    expect(await turnsInRedis()).toEqual([]);
  });

  it('says once that its turn is none that this version knows', async () => {
    const { put, fire, word } = openDesk();
    await put('daily');
    await fire('daily', { input: 'hello', ofALaterVersion: true });
    const { message, fields } = await word(1);
    expect(message).toBe('a firing is lost');
    expect(fields['reason']).toContain('ofALaterVersion');
    await fire('daily', { input: 'hello' }, plannedAt + 1);
    expect((await word(2)).message).toBe('a schedule fired');
  });
});
