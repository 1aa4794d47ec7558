import { describe, expect, it } from 'vitest';
import { dump, SessionLine, tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

describe('enqueue-turn', () => {
  it('answers the place in the line, and keeps the order', async () => {
    const s = new SessionLine(redis.client);
    expect(await s.enqueue(s.turn(1))).toBe(1);
    expect(await s.enqueue(s.turn(2))).toBe(2);
    expect(await s.enqueue(s.turn(3))).toBe(3);
    expect(await s.line()).toEqual([s.turn(1), s.turn(2), s.turn(3)]);
  });

  it('writes the turn, the session and the first event', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1), '{"input":"hi"}');
    const turn = await redis.client.hgetall(s.turnKeys(s.turn(1)).turn);
    expect(turn).toEqual({
      sessionId: 's1',
      request: '{"input":"hi"}',
      status: 'queued',
      attempts: '0',
      acceptedAt: expect.stringMatching(/^\d{13}$/) as string,
      seq: '1',
    });
    expect(await redis.client.hgetall(s.keys.session)).toEqual({ sessionId: 's1', tenant });
    expect(await s.events(s.turn(1))).toEqual([
      { id: '1-0', body: { type: 'turn.queued', position: 1 } },
    ]);
  });

  it('changes nothing for the same turn again, and answers its place', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    const before = await dump(redis.client);
    expect(await s.enqueue(s.turn(2), '{"other":true}')).toBe(2);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('answers 0 for a turn that has its result, and does not queue it again', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)));
    const before = await dump(redis.client);
    expect(await s.enqueue(s.turn(1))).toBe(0);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('takes the expiry off all that the session keeps', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)), {
      messages: ['m'],
      state: { a: '1' },
      artifacts: ['a'],
      workspace: '{}',
    });
    const { session, messages, skillState, artifacts, workspace } = s.keys;
    const kept = [session, messages, skillState, artifacts, workspace];
    for (const key of kept) expect(await redis.client.ttl(key), key).toBeGreaterThan(0);
    await s.enqueue(s.turn(2));
    for (const key of kept) expect(await redis.client.ttl(key), key).toBe(-1);
  });

  it('gives a waiting turn and its events no expiry', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const { turn, events } = s.turnKeys(s.turn(1));
    expect([await redis.client.ttl(turn), await redis.client.ttl(events)]).toEqual([-1, -1]);
  });

  it('keeps sessions apart', async () => {
    const a = new SessionLine(redis.client, 'a');
    const b = new SessionLine(redis.client, 'b');
    await a.enqueue(a.turn(1));
    expect(await b.enqueue(b.turn(1))).toBe(1);
  });

  it('works when Redis has forgotten its scripts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await redis.client.script('FLUSH');
    expect(await s.enqueue(s.turn(2))).toBe(2);
    expect(await s.line()).toHaveLength(2);
  });
});
