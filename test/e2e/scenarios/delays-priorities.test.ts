import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import { eventsOf, held, historyOf, saidIn } from '../../support/line-turns.js';
import { callOf } from '../../support/turns-desk.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
let client: Client;
/** Messages in the order in which the model was asked. */
let asked: unknown[];
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local', SKILLMILL_CONCURRENCY: '1' });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  await world.worker();
  asked = [];
  world.script('quick', [
    (request) => {
      asked.push(request.messages.at(-1)?.content);
      return { text: 'quick answer' };
    },
  ]);
});
afterAll(async () => {
  await client.close();
  await world.close();
});

describe('a delayed turn', () => {
  it('takes its place when it falls due; later turns of its session go before [delayed-turn]', async () => {
    const sessionId = 'delaying';
    const delayed = await client.enqueue({ input: 'quick, delayed', sessionId, delayMs: 2500 });
    expect(delayed).toMatchObject({ position: 0 });
    const now = await client.enqueue({ input: 'quick, now', sessionId });
    expect(now).toMatchObject({ position: 1 });
    expect(await client.result(now.turnId)).toMatchObject({ status: 'completed' });
    await expect(client.result(delayed.turnId, { waitMs: 0 })).rejects.toMatchObject({
      code: 'TURN_NOT_FINISHED',
    });
    expect(await client.result(delayed.turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    expect(await saidIn(world, now.turnId)).toEqual(['quick, now', 'quick, delayed']);
    const [queued, started] = await eventsOf(client, delayed.turnId);
    expect(queued).toMatchObject({ type: 'turn.queued', position: 0, delayMs: 2500 });
    const waitedMs = Date.parse(started?.at ?? '') - Date.parse(queued?.at ?? '');
    expect(waitedMs).toBeGreaterThanOrEqual(2500);
  });

  it('does not make its session busy before it is due [delayed-turn, on-busy-reject]', async () => {
    const sessionId = 'delayed-and-idle';
    const delayed = await client.enqueue({
      input: 'quick, much later',
      sessionId,
      delayMs: 60_000,
    });
    const now = await client.enqueue({ input: 'quick, now', sessionId, onBusy: 'reject' });
    expect(await client.result(now.turnId)).toMatchObject({ status: 'completed' });
    await client.cancel(delayed.turnId);
  });

  it('is cancelled before it is due, and never runs [delayed-turn, cancel-waiting]', async () => {
    const { stdout } = await world.run([
      ...['enqueue', 'never asked', '--session', 'delayed-cancelled', '--delay', '600'],
    ]);
    const turnId = stdout.trim();
    expect(await world.run(['cancel', turnId, '--json'])).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ turnId, outcome: 'cancelled' })}\n`,
    });
    expect(await client.result(turnId, { waitMs: 0 })).toMatchObject({
      ...{ status: 'cancelled', attempts: 0, error: { code: 'CANCELLED' } },
    });
    const next = await client.enqueue({ input: 'quick, next', sessionId: 'delayed-cancelled' });
    expect(await client.result(next.turnId)).toMatchObject({ status: 'completed' });
    expect(await saidIn(world, turnId)).toEqual(['never asked', 'quick, next']);
  });

  it.each(['its job', 'its job and the job’s place'])(
    'runs though %s is lost [delayed-turn]',
    async (lost) => {
      const { turnId } = await client.enqueue({ input: `quick, without ${lost}`, delayMs: 2000 });
      const queue = '{skillmill-queue}:turns';
      expect(await world.redis.del(`${queue}:${turnId}`)).toBe(1);
      if (lost !== 'its job') expect(await world.redis.zrem(`${queue}:delayed`, turnId)).toBe(1);
      expect(await client.result(turnId, { waitMs: 30_000 })).toMatchObject({
        ...{ status: 'completed', attempts: 1 },
      });
      const events = await eventsOf(client, turnId);
      expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1);
    },
  );
});

describe('priority', () => {
  it('puts sessions in order while no slot is free, never the turns of one [priorities]', async () => {
    const hold = held({ text: 'held answer' });
    world.script('hold the only slot', [hold.step]);
    const holding = await client.enqueue({ input: 'hold the only slot' });
    await hold.asked;
    asked.length = 0;
    const waiting: [string, string, 'high' | 'normal' | 'low' | undefined][] = [
      ['low 1', 'p1', 'low'],
      ['normal 1', 'p2', 'normal'],
      ['none given', 'p3', undefined],
      ['high 1', 'p4', 'high'],
      ['low 2', 'p5', 'low'],
      ['high 2', 'p6', 'high'],
      // Behind a turn of low priority of the same session.
      ['high behind low', 'p1', 'high'],
    ];
    const turns = [];
    for (const [text, sessionId, priority] of waiting) {
      turns.push(await client.enqueue({ input: `quick, ${text}`, sessionId, priority }));
    }
    hold.release();
    for (const { turnId } of [holding, ...turns]) {
      expect(await client.result(turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    }
    expect(asked).toEqual(
      ['high 1', 'high 2', 'normal 1', 'none given', 'low 1', 'high behind low', 'low 2'].map(
        (text) => `quick, ${text}`,
      ),
    );
  });
});

describe('five messages at once for one session', () => {
  it('become one valid history, whatever their priority and delay [session-order, delayed-turn, priorities]', async () => {
    const workers = [await world.worker(), await world.worker()];
    for (let n = 1; n <= 5; n += 1) {
      world.script(`message ${n}.`, [callOf('skill_list', { n }), { text: `answer ${n}` }]);
    }
    const more = [{}, { delayMs: 2000 }, {}, {}, { priority: 'high' as const }];
    const turns = await Promise.all(
      more.map((options, n) =>
        client.enqueue({ ...options, input: `message ${n + 1}.`, sessionId: 'five' }),
      ),
    );
    expect(turns.map(({ position }) => position)).toEqual([1, 0, 2, 3, 4]);
    for (const [n, { turnId }] of turns.entries()) {
      expect(await client.result(turnId)).toMatchObject({ output: `answer ${n + 1}` });
    }
    const messages = await historyOf(world, turns[0]?.turnId ?? '');
    expect(messages.map(({ role, content }) => (role === 'tool' ? role : content))).toEqual(
      [1, 3, 4, 5, 2].flatMap((n) => [`message ${n}.`, null, 'tool', `answer ${n}`]),
    );
    expect(world.model.faults).toEqual([]);
    await Promise.all(workers.map((worker) => worker.end()));
  });
});
