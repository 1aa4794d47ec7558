import { describe, expect, it } from 'vitest';
import { dump, SessionLine, wrongProofs } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

const leaseExpiry = async (s: SessionLine) =>
  Number(await redis.client.hget(s.keys.session, 'leaseExpiresAt'));

describe('renew-lease', () => {
  it('moves the expiry on', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await redis.client.hset(s.keys.session, 'leaseExpiresAt', 5);
    expect(await s.renew(s.turn(1), proof)).toBe('held');
    expect(await leaseExpiry(s)).toBeGreaterThan(5);
  });

  it.each(wrongProofs({ token: 1, nonce: 'nonce-1' }))('is lost with %s', async (_, wrong) => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    expect(await s.take(s.turn(1))).toEqual({ token: 1, nonce: 'nonce-1' });
    const before = await dump(redis.client);
    expect(await s.renew(s.turn(1), wrong)).toBe('lost');
    expect(await dump(redis.client)).toEqual(before);
  });

  it('revives a lease that ran out while nobody took it', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.expireLease();
    expect(await s.renew(s.turn(1), proof)).toBe('held');
    expect((await s.claim(s.turn(1), 'n2')).outcome).toBe('held');
  });

  it('tells the holder of a cancel, each time, and still renews', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.cancel(s.turn(1));
    await redis.client.hset(s.keys.session, 'leaseExpiresAt', 5);
    expect(await s.renew(s.turn(1), proof)).toBe('cancel');
    expect(await leaseExpiry(s)).toBeGreaterThan(5);
    expect(await s.renew(s.turn(1), proof)).toBe('cancel');
  });

  it.each(['committed', 'released', 'cancelled'] as const)(
    'is lost after the turn was %s, and leaves no lease behind',
    async (how) => {
      const s = new SessionLine(redis.client);
      await s.enqueue(s.turn(1));
      const proof = await s.take(s.turn(1));
      if (how === 'committed') await s.commit(s.turn(1), proof);
      if (how === 'released') await s.release(s.turn(1), proof, 'retry');
      if (how === 'cancelled') {
        await s.expireLease();
        await s.cancel(s.turn(1));
      }
      const before = await dump(redis.client);
      expect(await s.renew(s.turn(1), proof)).toBe('lost');
      expect(await dump(redis.client)).toEqual(before);
    },
  );

  it('is lost for a session that has expired, and does not bring it back', async () => {
    const s = new SessionLine(redis.client);
    expect(await s.renew(s.turn(1), { token: 1, nonce: 'n' })).toBe('lost');
    expect(await dump(redis.client)).toEqual({});
  });

  it('works when Redis has forgotten its scripts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await redis.client.script('FLUSH');
    expect(await s.renew(s.turn(1), proof)).toBe('held');
  });
});
