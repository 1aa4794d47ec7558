import { describe, expect, it } from 'vitest';
import { dump, SessionLine, wrongProofs } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

describe('append-steps', () => {
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

  it('answers the last seq for no bodies', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    expect(await s.append(s.turn(1), await s.take(s.turn(1)), [])).toBe(2);
  });

  it('appends entries in order, in the same step as the events', async () => {
    const s = new SessionLine(redis.client);
    const turn = s.turn(1);
    await s.enqueue(turn);
    const proof = await s.take(turn);
    const entries = [{ kind: 'a', text: 'ü "quoted" \n {}' }, { kind: 'b' }];
    const { journal } = s.turnKeys(turn);
    expect(await s.write(turn, proof, { number: 1, bodies: [{ type: 'x' }], entries })).toEqual({
      outcome: 'written',
      seq: 3,
      waiting: 0,
    });
    await s.write(turn, proof, { number: 2, entries: [{ kind: 'c' }] });
    const stored = (await redis.client.lrange(journal, 0, -1)).map((text): unknown =>
      JSON.parse(text),
    );
    expect(stored).toEqual([...entries, { kind: 'c' }]);
  });

  it('changes nothing when a write of the attempt comes again, and answers the last seq', async () => {
    const s = new SessionLine(redis.client);
    const turn = s.turn(1);
    await s.enqueue(turn);
    const proof = await s.take(turn, 'n1');
    const first = { number: 1, bodies: [{ type: 'x' }], entries: [{ kind: 'a' }] };
    await s.write(turn, proof, first);
    await s.write(turn, proof, { number: 2, bodies: [{ type: 'y' }] });
    const before = await dump(redis.client);
    for (const number of [1, 2]) {
      expect(await s.write(turn, proof, { ...first, number })).toEqual({
        outcome: 'already',
        seq: 4,
        waiting: 0,
      });
    }
    expect(await dump(redis.client)).toEqual(before);
    await s.expireLease();
    const next = await s.take(turn, 'n2');
    expect(await s.write(turn, next, first)).toMatchObject({ outcome: 'written', seq: 6 });
  });

  it('keeps which messages have no end, until they have', async () => {
    const s = new SessionLine(redis.client);
    const turn = s.turn(1);
    await s.enqueue(turn);
    const proof = await s.take(turn);
    const open = () => redis.client.hget(s.turnKeys(turn).turn, 'openMessages');
    await s.write(turn, proof, { number: 1, open: 'm1' });
    await s.write(turn, proof, { number: 2, bodies: [{ type: 'x' }] });
    expect(await open()).toBe('m1');
    await s.write(turn, proof, { number: 3, open: '' });
    expect(await open()).toBeNull();
  });

  it('clears what counts claims without progress only when there is some', async () => {
    const s = new SessionLine(redis.client);
    const turn = s.turn(1);
    await s.enqueue(turn);
    const proof = await s.take(turn);
    const counts = () => redis.client.hmget(s.turnKeys(turn).turn, 'fruitless', 'throttled');
    await redis.client.hset(s.turnKeys(turn).turn, { fruitless: 2, throttled: 3 });
    await s.write(turn, proof, { number: 1, bodies: [{ type: 'x' }] });
    expect(await counts()).toEqual(['2', '3']);
    await s.write(turn, proof, { number: 2, isProgress: true });
    expect(await counts()).toEqual([null, null]);
  });

  it('is refused once the turn has a result, whoever holds the lease', async () => {
    const s = new SessionLine(redis.client);
    const turn = s.turn(1);
    await s.enqueue(turn);
    const proof = await s.take(turn);
    await redis.client.hset(s.turnKeys(turn).turn, 'result', '{}');
    const before = await dump(redis.client);
    expect(await s.append(turn, proof, [{ type: 'late' }])).toBe(-1);
    expect(await dump(redis.client)).toEqual(before);
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
