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
    expect(await redis.client.hgetall(s.keys.session)).toEqual({
      ...{ sessionId: 's1', tenant, tickets: '1' },
    });
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

  it('refuses where a turn waits or runs, when asked to, and leaves nothing behind', async () => {
    const s = new SessionLine(redis.client);
    expect((await s.accept(s.turn(1), { onBusy: 'reject' })).outcome).toBe('accepted');
    const before = await dump(redis.client);
    expect((await s.accept(s.turn(2), { onBusy: 'reject' })).outcome).toBe('busy');
    expect(await dump(redis.client)).toEqual(before);
  });

  it('asks the running turn to make way, and only that one', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const waiting = await s.accept(s.turn(2), { onBusy: 'interrupt' });
    expect(waiting).toMatchObject({ position: 2, makeWay: undefined });
    const proof = await s.take(s.turn(1));
    const reply = await s.accept(s.turn(3), { onBusy: 'interrupt' });
    expect(reply).toMatchObject({ position: 3, makeWay: s.turn(1) });
    expect(await s.renew(s.turn(1), proof)).toBe('cancel');
    await s.commit(s.turn(1), proof, { status: 'cancelled' });
    expect(await s.renew(s.turn(2), await s.take(s.turn(2)))).toBe('held');
  });

  it('lets a message join a turn that has begun; where none has, it is a turn of its own', async () => {
    const s = new SessionLine(redis.client);
    expect(await s.accept(s.turn(1), { onBusy: 'steer' })).toMatchObject({ position: 1 });
    expect(await s.accept(s.turn(2), { onBusy: 'steer' })).toMatchObject({ position: 2 });
    await s.take(s.turn(1));
    expect(await s.accept(s.turn(3), { onBusy: 'steer' })).toMatchObject({ position: 0 });
    expect(await s.line()).toEqual([s.turn(1), s.turn(2)]);
    expect((await s.claim(s.turn(3), 'n3')).outcome).toBe('waiting');
    expect((await s.events(s.turn(3)))[0]?.body).toMatchObject({ joins: s.turn(1) });
  });

  it('refuses a mark that may be swept away: the turn would be seen by no sweep', async () => {
    const s = new SessionLine(redis.client);
    const markedAt = (await s.mark()) - 20_001;
    expect((await s.accept(s.turn(1), { markedAt })).outcome).toBe('stale');
    expect(await dump(redis.client)).toEqual({});
    expect((await s.accept(s.turn(1))).outcome).toBe('accepted');
  });

  it('hands the journal of an ended turn on when nothing of the session has come after it', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)), { messages: ['a', 'b'] });
    await s.enqueue(s.turn(2));
    const proof = await s.take(s.turn(2));
    const ended = s.turnKeys(s.turn(2));
    await redis.client.rpush(ended.journal, 'step');
    await redis.client.sadd(ended.blobs, 'blob');
    await s.commit(s.turn(2), proof, { status: 'failed', messages: ['c', 'd'] });
    await s.accept(s.turn(3), { retryOf: s.turn(2) });
    const { turn, journal, blobs } = s.turnKeys(s.turn(3));
    expect(await redis.client.lrange(s.keys.messages, 0, -1)).toEqual(['a', 'b']);
    expect(await redis.client.lrange(journal, 0, -1)).toEqual(['step']);
    expect(await redis.client.smembers(blobs)).toEqual(['blob']);
    expect(await redis.client.ttl(journal)).toBe(-1);
    expect(await redis.client.hget(turn, 'retryOf')).toBe(s.turn(2));
  });

  it.each(['another has ended since', 'another waits'] as const)(
    'lets the new turn begin anew when %s',
    async (how) => {
      const s = new SessionLine(redis.client);
      await s.enqueue(s.turn(1));
      const proof = await s.take(s.turn(1));
      await redis.client.rpush(s.turnKeys(s.turn(1)).journal, 'step');
      await s.commit(s.turn(1), proof, { status: 'failed', messages: ['a'] });
      await s.enqueue(s.turn(2));
      if (how === 'another has ended since') {
        await s.commit(s.turn(2), await s.take(s.turn(2)), { messages: ['b'] });
      }
      await s.accept(s.turn(3), { retryOf: s.turn(1) });
      expect(await redis.client.exists(s.turnKeys(s.turn(3)).journal)).toBe(0);
      expect(await redis.client.lindex(s.keys.messages, 0)).toBe('a');
    },
  );

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
