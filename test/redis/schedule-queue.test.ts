import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tenantSchema } from '../../src/shared/contracts/index.js';
import { SkillmillError } from '../../src/shared/errors/skillmill-error.js';
import type { Logger } from '../../src/shared/logging/logger.js';
import { startScheduleConsumer, type Firing } from '../../src/shared/queue/schedule-consumer.js';
import { createScheduleQueue, type Schedule } from '../../src/shared/queue/schedule-queue.js';
import { eventually } from '../support/eventually.js';
import { tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const other = tenantSchema.parse('other');

const schedule = (more: Partial<Schedule> = {}): Schedule => ({
  ...{ name: 'tick', cron: '*/1 * * * * *', timeZone: 'UTC', turn: { input: 'hello' } },
  ...more,
});

/** The schedules, and the means to consume them, on a connection that ends with the test. */
function openSchedules() {
  const client = new Redis(redis.url, { maxRetriesPerRequest: null });
  const schedules = createScheduleQueue(client);
  const said: string[] = [];
  const logger: Logger = { log: (_level, message) => said.push(message), child: () => logger };
  const ends: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(ends.map((end) => end()));
    await schedules.close();
    client.disconnect();
  });
  const consume = (handler: (firing: Firing) => Promise<void>) => {
    const consumer = startScheduleConsumer({ client, handler, logger });
    ends.push(() => consumer.drain());
    return consumer;
  };
  return { client, schedules, consume, said };
}

/** What BullMQ keeps of schedules, but for its bookkeeping. */
const kept = async () => {
  const keys = await redis.client.keys('{skillmill-queue}:schedules:*');
  return keys.filter((key) => !/:(meta|id|events|stalled-check|marker)$/.test(key));
};

describe('schedules', () => {
  it('are listed by name, to their tenant only, as they were put', async () => {
    const { schedules } = openSchedules();
    const turn = { input: 'x', metadata: { empty: '' }, skills: [], temperature: 0.1 };
    const names = ['__proto__', 'A.b_c-1', 'x'.repeat(128)];
    for (const name of names) {
      const at = Date.now();
      const put = await schedules.put(tenant, schedule({ name, turn, timeZone: 'Asia/Tokyo' }));
      expect(put).toMatchObject({ isReplaced: false });
      expect(put.nextAtMs).toBeGreaterThan(at);
    }
    await schedules.put(other, schedule());
    const listed = await schedules.list(tenant);
    expect(listed.map(({ name }) => name)).toEqual(['A.b_c-1', '__proto__', 'x'.repeat(128)]);
    for (const { nextAtMs, ...rest } of listed) {
      expect(nextAtMs % 1000).toBe(0);
      expect(rest).toEqual(schedule({ name: rest.name, turn, timeZone: 'Asia/Tokyo' }));
    }
    expect((await schedules.list(other)).map(({ name }) => name)).toEqual(['tick']);
  });

  it('keep a tenant’s apart from those of one whose name goes on', async () => {
    const { schedules } = openSchedules();
    const longer = tenantSchema.parse(`${tenant}-2`);
    await schedules.put(longer, schedule());
    expect(await schedules.list(tenant)).toEqual([]);
    expect(await schedules.remove(tenant, 'tick')).toBe(false);
    expect(await schedules.has(longer, 'tick')).toBe(true);
  });

  it('reckon in the schedule’s time zone', async () => {
    const { schedules } = openSchedules();
    const hourIn = async (timeZone: string) => {
      const put = await schedules.put(tenant, schedule({ cron: '30 6 * * *', timeZone }));
      return new Date(put.nextAtMs).toISOString().slice(11, 16);
    };
    expect(await hourIn('UTC')).toBe('06:30');
    expect(await hourIn('Asia/Tokyo')).toBe('21:30');
  });

  it('replace the one of the same name, with its next firing', async () => {
    const { schedules } = openSchedules();
    await schedules.put(tenant, schedule({ cron: '0 0 1 1 *' }));
    const turn = { input: 'another' };
    expect(await schedules.put(tenant, schedule({ turn }))).toMatchObject({ isReplaced: true });
    expect(await schedules.list(tenant)).toMatchObject([{ cron: '*/1 * * * * *', turn }]);
    expect((await kept()).filter((key) => /:\d+$/.test(key))).toHaveLength(1);
  });

  it('begin later when a worker whose clock is ahead fires the first already', async () => {
    const { schedules, client } = openSchedules();
    const jobs = new Queue('schedules', { connection: client, prefix: '{skillmill-queue}' });
    const second = Math.ceil(Date.now() / 1000) * 1000;
    for (const atMs of [second, second + 1000]) {
      await jobs.add('firing', {}, { jobId: `repeat:${tenant}/tick:${atMs}` });
    }
    const { nextAtMs } = await schedules.put(tenant, schedule());
    expect(nextAtMs).toBeGreaterThan(second + 1000);
    await jobs.close();
  });

  it('leave nothing once they are removed', async () => {
    const { schedules } = openSchedules();
    await schedules.put(tenant, schedule());
    expect(await schedules.remove(tenant, 'tick')).toBe(true);
    expect(await schedules.remove(tenant, 'tick')).toBe(false);
    expect(await schedules.has(tenant, 'tick')).toBe(false);
    expect(await kept()).toEqual([]);
  });

  it('say REDIS_UNAVAILABLE when they cannot be reached', async () => {
    const client = new Redis(redis.url, { lazyConnect: true, maxRetriesPerRequest: 0 });
    client.on('error', () => undefined);
    const schedules = createScheduleQueue(client);
    client.disconnect();
    const fault = { code: 'REDIS_UNAVAILABLE' };
    await expect(schedules.put(tenant, schedule())).rejects.toMatchObject(fault);
    await expect(schedules.list(tenant)).rejects.toMatchObject(fault);
    await expect(schedules.remove(tenant, 'tick')).rejects.toMatchObject(fault);
    await schedules.close().catch(() => undefined);
  });
});

describe('firings', () => {
  it('come once for each planned time, however many consume', async () => {
    const { schedules, consume } = openSchedules();
    const got: Firing[] = [];
    for (let consumers = 0; consumers < 3; consumers += 1) {
      consume((firing) => {
        got.push(firing);
        return Promise.resolve();
      });
    }
    await schedules.put(tenant, schedule());
    await schedules.put(other, schedule({ name: 'tock' }));
    await eventually('four of each', () => (got.length >= 8 ? true : undefined));
    await schedules.remove(tenant, 'tick');
    await schedules.remove(other, 'tock');
    const own = got.filter(({ name }) => name === 'tick');
    expect(own[0]).toMatchObject({ tenant, name: 'tick', request: { input: 'hello' } });
    const times = got.map((firing) => `${firing.tenant} ${firing.plannedAtMs}`);
    expect(new Set(times).size).toBe(times.length);
    expect(own.every(({ plannedAtMs }) => plannedAtMs % 1000 === 0)).toBe(true);
  });

  it('that nobody took come late, once, and go on from now', async () => {
    const { schedules, consume } = openSchedules();
    const { nextAtMs } = await schedules.put(tenant, schedule());
    await sleep(3000);
    expect((await schedules.list(tenant))[0]?.nextAtMs, 'it is overdue').toBe(nextAtMs);
    const begun = Date.now();
    const got: number[] = [];
    consume(({ plannedAtMs }) => {
      got.push(plannedAtMs);
      return Promise.resolve();
    });
    await eventually('the one after', () => (got.length >= 2 ? true : undefined));
    expect(got[0]).toBe(nextAtMs);
    expect(got[1]).toBeGreaterThan(begun);
  });

  it('that fail come again with their planned time, unless that is of no use', async () => {
    const { schedules, consume, said } = openSchedules();
    const passing: number[] = [];
    const hopeless: number[] = [];
    await schedules.put(tenant, schedule({ name: 'passing' }));
    await schedules.put(tenant, schedule({ name: 'hopeless' }));
    consume(async ({ name, plannedAtMs }) => {
      (name === 'passing' ? passing : hopeless).push(plannedAtMs);
      await schedules.put(tenant, schedule({ name, cron: '0 0 1 1 *' }));
      if (name === 'hopeless') throw new SkillmillError('INPUT_INVALID', 'of no use');
      if (passing.length === 1) throw new SkillmillError('BLOB_UNAVAILABLE', 'away');
    });
    await eventually('the second try', () => passing[1]);
    expect(passing[1]).toBe(passing[0]);
    await eventually('the end of the other', () => said.includes('a firing is lost') || undefined);
    expect(hopeless).toHaveLength(1);
    expect(said.filter((sentence) => sentence === 'a schedule could not enqueue yet')).toHaveLength(
      1,
    );
    await eventually('only the next firings', async () =>
      (await kept()).filter((key) => /:\d+$/.test(key)).length === 2 ? true : undefined,
    );
  });

  it('that is handled is waited for by a drain', async () => {
    const { schedules, consume } = openSchedules();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const steps: string[] = [];
    const consumer = consume(async () => {
      steps.push('begun');
      await gate;
      steps.push('ended');
    });
    await schedules.put(tenant, schedule());
    await eventually('a firing', () => steps[0]);
    const drained = consumer.drain().then(() => steps.push('drained'));
    open();
    await drained;
    expect(steps).toEqual(['begun', 'ended', 'drained']);
  });
});
