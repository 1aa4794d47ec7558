import { describe, expect, it } from 'vitest';
import { dump, SessionLine, wrongProofs } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

describe('append-events', () => {
  it('adds all bodies as they are, with seqs that rise by one, and answers the last', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    const odd = { type: 'x', text: 'ü "quoted" \n \u0000 {}', list: [] };
    expect(await s.append(s.turn(1), proof, [odd, { type: 'y' }])).toBe(4);
    expect(await s.append(s.turn(1), proof, [{ type: 'z' }])).toBe(5);
    expect((await s.events(s.turn(1))).slice(2)).toEqual([
      { id: '3-0', body: odd },
      { id: '4-0', body: { type: 'y' } },
      { id: '5-0', body: { type: 'z' } },
    ]);
  });

  it('answers 0 for no bodies', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    expect(await s.append(s.turn(1), await s.take(s.turn(1)), [])).toBe(0);
  });

  it.each(wrongProofs({ token: 1, nonce: 'nonce-1' }))('is refused with %s', async (_, wrong) => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    const before = await dump(redis.client);
    expect(await s.append(s.turn(1), wrong, [{ type: 'x' }])).toBe(-1);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('is refused after the commit, so that nothing follows the final event', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.commit(s.turn(1), proof);
    expect(await s.append(s.turn(1), proof, [{ type: 'late' }])).toBe(-1);
    expect((await s.events(s.turn(1))).at(-1)?.body['type']).toBe('turn.completed');
  });

  it('is refused once another worker has the session', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const old = await s.take(s.turn(1), 'n1');
    await s.expireLease();
    await s.take(s.turn(1), 'n2');
    const before = await dump(redis.client);
    expect(await s.append(s.turn(1), old, [{ type: 'late' }])).toBe(-1);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('works when Redis has forgotten its scripts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await redis.client.script('FLUSH');
    expect(await s.append(s.turn(1), proof, [{ type: 'x' }])).toBe(3);
  });
});
