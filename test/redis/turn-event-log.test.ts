import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { turnEventSchema } from '../../src/shared/contracts/index.js';
import { readTurnEvents } from '../../src/shared/events/turn-event-log.js';
import { SessionLine, tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const now = (after: number) => ({ after, waitMs: 0 });
const step = (n: number) => ({ type: 'tool.output', callId: 'c', stream: 'stdout', text: `${n}` });

describe('readTurnEvents', () => {
  it('gives events as their contract says, from the first on', async () => {
    const s = new SessionLine(redis.client);
    const turn = s.turn(1);
    await s.enqueue(turn);
    await s.append(turn, await s.take(turn), [step(1)]);
    const { events } = await readTurnEvents(redis.client, tenant, turn, now(0));
    for (const event of events) expect(turnEventSchema.parse(event)).toEqual(event);
    expect(events.map((event) => [event.seq, event.type, event.turnId, event.sessionId])).toEqual([
      [1, 'turn.queued', turn, 's1'],
      [2, 'turn.started', turn, 's1'],
      [3, 'tool.output', turn, 's1'],
    ]);
  });

  it('gives what comes after a seq, and nothing after the last', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    const rest = await readTurnEvents(redis.client, tenant, s.turn(1), now(1));
    expect(rest.events.map((event) => event.seq)).toEqual([2]);
    expect(rest.after).toBe(2);
    for (const [turn, after] of [
      [s.turn(1), 2],
      [s.turn(1), 99],
      [s.turn(2), 0],
    ] as const) {
      const page = await readTurnEvents(redis.client, tenant, turn, now(after));
      expect(page).toEqual({ events: [], after });
    }
  });

  it('reads more than 500 events in pages, none twice and none left out', async () => {
    const s = new SessionLine(redis.client);
    const turn = s.turn(1);
    await s.enqueue(turn);
    const proof = await s.take(turn);
    await s.append(
      turn,
      proof,
      Array.from({ length: 1203 }, (_, n) => step(n)),
    );
    const sizes: number[] = [];
    const seqs: number[] = [];
    for (;;) {
      const page = await readTurnEvents(redis.client, tenant, turn, now(seqs.at(-1) ?? 0));
      if (page.events.length === 0) break;
      sizes.push(page.events.length);
      seqs.push(...page.events.map((event) => event.seq));
    }
    expect(sizes).toEqual([500, 500, 205]);
    expect(seqs).toEqual(Array.from({ length: 1205 }, (_, n) => n + 1));
  });

  it('waits for the next event, and gives it up when none comes', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const waiting = new Redis(redis.url);
    try {
      const next = readTurnEvents(waiting, tenant, s.turn(1), { after: 1, waitMs: 20_000 });
      await s.take(s.turn(1));
      expect((await next).events.map((event) => event.type)).toEqual(['turn.started']);
      const none = await readTurnEvents(waiting, tenant, s.turn(1), { after: 2, waitMs: 1 });
      expect(none.events).toEqual([]);
    } finally {
      waiting.disconnect();
    }
  });

  it('says REDIS_UNAVAILABLE on a connection that is gone', async () => {
    const gone = new Redis(redis.url, { lazyConnect: true, maxRetriesPerRequest: 0 });
    gone.disconnect();
    const s = new SessionLine(redis.client);
    await expect(readTurnEvents(gone, tenant, s.turn(1), now(0))).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
    });
  });

  it('leaves out an event that this version does not know, and goes on behind it', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.append(s.turn(1), await s.take(s.turn(1)), [{ type: 'from.the.future' }]);
    const page = await readTurnEvents(redis.client, tenant, s.turn(1), now(0));
    expect(page.events.map((event) => event.seq)).toEqual([1, 2]);
    expect(page.after).toBe(3);
    expect(await readTurnEvents(redis.client, tenant, s.turn(1), now(2))).toEqual({
      events: [],
      after: 3,
    });
  });
});
