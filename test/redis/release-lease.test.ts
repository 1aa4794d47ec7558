import { describe, expect, it } from 'vitest';
import { dump, SessionLine, wrongProofs } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

describe('release-lease', () => {
  it.each([
    ['hand_over', '0', null],
    ['retry', '1', null],
    ['throttled', '0', '1'],
  ] as const)('gives the turn back at once (%s)', async (why, fruitless, throttled) => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    expect(await s.release(s.turn(1), proof, why)).toBe('released');
    const { turn } = s.turnKeys(s.turn(1));
    const fields = await redis.client.hmget(turn, 'status', 'fruitless', 'throttled');
    expect(fields).toEqual(['queued', fruitless, throttled]);
    expect((await s.events(s.turn(1))).at(-1)?.body).toEqual({ type: 'released' });
    expect(Object.keys(await redis.client.hgetall(s.keys.session)).sort()).toEqual([
      'begun',
      'leaseToken',
      'sessionId',
      'tenant',
      'tickets',
    ]);
    expect(await s.line()).toEqual([s.turn(1)]);
    expect((await s.claim(s.turn(1), 'n2')).outcome).toBe('claimed');
  });

  it.each(wrongProofs({ token: 1, nonce: 'nonce-1' }))('is refused with %s', async (_, wrong) => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    const before = await dump(redis.client);
    expect(await s.release(s.turn(1), wrong, 'hand_over')).toBe('lost');
    expect(await dump(redis.client)).toEqual(before);
  });

  it('is refused the second time', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.release(s.turn(1), proof, 'hand_over');
    const before = await dump(redis.client);
    expect(await s.release(s.turn(1), proof, 'hand_over')).toBe('lost');
    expect(await dump(redis.client)).toEqual(before);
  });

  it('takes nothing from the one who took the session over', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const old = await s.take(s.turn(1), 'n1');
    await s.expireLease();
    const now = await s.take(s.turn(1), 'n2');
    expect(await s.release(s.turn(1), old, 'retry')).toBe('lost');
    expect(await s.renew(s.turn(1), now)).toBe('held');
  });

  it('keeps a turn that is to be cancelled, for its holder to end', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.cancel(s.turn(1));
    const before = await dump(redis.client);
    expect(await s.release(s.turn(1), proof, 'retry', 60_000)).toBe('cancel');
    expect(await dump(redis.client)).toEqual(before);
    const ended = { result: '{"n":1}', status: 'cancelled' };
    expect((await s.commit(s.turn(1), proof, ended)).outcome).toBe('committed');
  });

  it('works when Redis has forgotten its scripts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await redis.client.script('FLUSH');
    expect(await s.release(s.turn(1), proof, 'retry')).toBe('released');
  });
});
