import { describe, expect, it } from 'vitest';
import { dump, leaseMs, SessionLine } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

describe('claim-turn', () => {
  it('gives the head of the line to one worker, who alone has the lease', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const claim = await s.claim(s.turn(1), 'n1', 'w1');
    expect(claim).toMatchObject({
      outcome: 'claimed',
      token: 1,
      attempt: 1,
      fruitless: 1,
      throttled: 0,
    });
    expect(await redis.client.hgetall(s.keys.session)).toMatchObject({
      leaseTurn: s.turn(1),
      leaseNonce: 'n1',
      leaseOwner: 'w1',
      leaseToken: '1',
    });
    const before = await dump(redis.client);
    expect((await s.claim(s.turn(1), 'n2', 'w2')).outcome).toBe('held');
    expect(await dump(redis.client)).toEqual(before);
  });

  it('says how long a held lease has left', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    const held = await s.claim(s.turn(1), 'n2');
    if (held.outcome !== 'held') throw new Error(held.outcome);
    expect(held.msLeft).toBeGreaterThan(0);
    expect(held.msLeft).toBeLessThanOrEqual(leaseMs);
  });

  it('makes a turn wait that is not the head', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    const before = await dump(redis.client);
    expect(await s.claim(s.turn(2))).toEqual({ outcome: 'waiting' });
    expect(await dump(redis.client)).toEqual(before);
  });

  it('knows a turn that was never enqueued from one that is finished', async () => {
    const s = new SessionLine(redis.client);
    expect(await s.claim(s.turn(1))).toEqual({ outcome: 'unknown' });
    expect(await dump(redis.client)).toEqual({});
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)));
    const before = await dump(redis.client);
    expect(await s.claim(s.turn(1))).toEqual({ outcome: 'finished' });
    expect(await dump(redis.client)).toEqual(before);
  });

  it('gives a lease that has run out to the next, with a higher token and one attempt more', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const first = await s.claim(s.turn(1), 'n1');
    await s.expireLease();
    const second = await s.claim(s.turn(1), 'n2', 'w2');
    if (first.outcome !== 'claimed' || second.outcome !== 'claimed') throw new Error('no claim');
    expect(second).toEqual({ ...first, token: 2, attempt: 2, fruitless: 2, now: second.now });
    expect(second.now).toBeGreaterThanOrEqual(second.startedAt);
    expect(await s.renew(s.turn(1), { token: 1, nonce: 'n1' })).toBe('lost');
    expect(await s.renew(s.turn(1), { token: 2, nonce: 'n2' })).toBe('held');
  });

  it('counts claims that came to nothing, and waits for an endpoint apart from them', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.release(s.turn(1), await s.take(s.turn(1), 'n1'), 'hand_over');
    await s.release(s.turn(1), await s.take(s.turn(1), 'n2'), 'retry');
    await s.release(s.turn(1), await s.take(s.turn(1), 'n3'), 'throttled');
    const counts = { attempt: 4, fruitless: 2, throttled: 1, token: 4 };
    expect(await s.claim(s.turn(1), 'n4')).toMatchObject(counts);
  });

  it('raises the token over turns too', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    await s.commit(s.turn(1), await s.take(s.turn(1)));
    expect(await s.claim(s.turn(2))).toMatchObject({ outcome: 'claimed', token: 2, attempt: 1 });
  });

  it('publishes each start, with worker and attempt, and marks the turn as running', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.claim(s.turn(1), 'n1', 'worker "x"');
    await s.expireLease();
    await s.claim(s.turn(1), 'n2', 'w2');
    expect((await s.events(s.turn(1))).slice(1)).toEqual([
      { id: '2-0', body: { type: 'turn.started', workerId: 'worker "x"', attempt: 1 } },
      { id: '3-0', body: { type: 'turn.started', workerId: 'w2', attempt: 2 } },
    ]);
    expect(await redis.client.hget(s.turnKeys(s.turn(1)).turn, 'status')).toBe('running');
  });

  it('gives the lease to exactly one of many that ask at once', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, n) => s.claim(s.turn(1), `n${n}`)),
    );
    expect(claims.filter((claim) => claim.outcome === 'claimed')).toHaveLength(1);
    expect(claims.filter((claim) => claim.outcome === 'held')).toHaveLength(19);
  });

  it('works when Redis has forgotten its scripts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    await redis.client.script('FLUSH');
    expect((await s.claim(s.turn(1), 'n2')).outcome).toBe('held');
  });

  it('gives a claim that is sent again the same answer', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const first = await s.claim(s.turn(1), 'n1');
    const before = await dump(redis.client);
    expect(await s.claim(s.turn(1), 'n1')).toEqual({ ...first, now: expect.any(Number) as number });
    expect(await dump(redis.client)).toEqual(before);
  });

  it('waits for a pause that the attempt before asked for', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.release(s.turn(1), await s.take(s.turn(1), 'n1'), 'throttled', 60_000);
    expect((await s.claim(s.turn(1), 'n2')).outcome).toBe('held');
    await redis.client.hset(s.turnKeys(s.turn(1)).turn, 'notBefore', 1);
    expect((await s.claim(s.turn(1), 'n2')).outcome).toBe('claimed');
  });

  it('leaves a delayed turn alone until it is due; then it stands behind those that came before', async () => {
    const s = new SessionLine(redis.client);
    const accepted = await s.accept(s.turn(1), { delayMs: 60_000 });
    expect(accepted).toMatchObject({ outcome: 'accepted', position: 0 });
    expect((await s.claim(s.turn(1))).outcome).toBe('delayed');
    await s.enqueue(s.turn(2));
    await s.fallDue(s.turn(1));
    expect(await s.claim(s.turn(1))).toEqual({ outcome: 'waiting' });
    expect(await s.line()).toEqual([s.turn(2), s.turn(1)]);
    const reply = await s.commit(s.turn(2), await s.take(s.turn(2)));
    expect(reply.head).toEqual({ turnId: s.turn(1), priority: 1 });
  });
});
