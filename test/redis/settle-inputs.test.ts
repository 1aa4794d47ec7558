import { describe, expect, it } from 'vitest';
import { dump, SessionLine, wrongProofs } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

describe('settle-inputs', () => {
  it('puts the request in place of the one before, and nothing else', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1), '{"before":1}');
    const proof = await s.take(s.turn(1));
    const { turn } = s.turnKeys(s.turn(1));
    const before = await redis.client.hgetall(turn);
    expect(await s.settleInputs(s.turn(1), proof, '{"after":1}')).toBe('settled');
    expect(await redis.client.hgetall(turn)).toEqual({ ...before, request: '{"after":1}' });
  });

  it.each(wrongProofs({ token: 1, nonce: 'nonce-1' }))('is lost with %s', async (_, wrong) => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    const before = await dump(redis.client);
    expect(await s.settleInputs(s.turn(1), wrong, '{}')).toBe('lost');
    expect(await dump(redis.client)).toEqual(before);
  });

  it('is lost after the commit, and for a session that has expired', async () => {
    const s = new SessionLine(redis.client);
    expect(await s.settleInputs(s.turn(1), { token: 1, nonce: 'n' }, '{}')).toBe('lost');
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.commit(s.turn(1), proof);
    const before = await dump(redis.client);
    expect(await s.settleInputs(s.turn(1), proof, '{}')).toBe('lost');
    expect(await dump(redis.client)).toEqual(before);
  });
});
