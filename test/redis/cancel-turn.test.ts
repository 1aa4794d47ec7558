import { describe, expect, it } from 'vitest';
import { dump, resultTtl, SessionLine, sessionTtl } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
/** A head of normal priority. */
const at = (turnId: string) => ({ turnId, priority: 1 });

describe('cancel-turn', () => {
  it('ends a turn that waits, here and now', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    const proof = await s.take(s.turn(1));
    expect(await s.cancel(s.turn(2))).toEqual({ outcome: 'cancelled', head: at(s.turn(1)) });
    const { turn, events } = s.turnKeys(s.turn(2));
    expect(await redis.client.hmget(turn, 'status', 'result')).toEqual([
      'cancelled',
      '{"cancelled":true}',
    ]);
    expect((await s.events(s.turn(2))).at(-1)?.body).toEqual({
      type: 'turn.cancelled',
      result: { cancelled: true },
    });
    for (const key of [turn, events]) {
      const ttl = await redis.client.ttl(key);
      expect(ttl > 0 && ttl <= resultTtl, key).toBe(true);
    }
    expect(await s.line()).toEqual([s.turn(1)]);
    expect(await s.claim(s.turn(2), 'n2')).toEqual({ outcome: 'finished' });
    expect(await s.renew(s.turn(1), proof), 'the running turn goes on').toBe('held');
  });

  it('names the new head when the head is cancelled, and nobody when it was the last', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    expect(await s.cancel(s.turn(1))).toEqual({ outcome: 'cancelled', head: at(s.turn(2)) });
    expect(await s.cancel(s.turn(2))).toEqual({ outcome: 'cancelled', head: undefined });
  });

  it('asks the worker of a turn that runs, and changes nothing else', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    const before = await dump(redis.client);
    const replies = [await s.cancel(s.turn(1)), await s.cancel(s.turn(1))];
    const requested = { outcome: 'requested', head: undefined };
    expect(replies).toEqual([requested, requested]);
    const { session } = s.keys;
    expect(await redis.client.hget(session, 'cancelRequested')).toBe(s.turn(1));
    await redis.client.hdel(session, 'cancelRequested');
    expect(await dump(redis.client)).toEqual(before);
  });

  it('ends a turn whose worker’s lease ran out, and that worker writes nothing more', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    const proof = await s.take(s.turn(1));
    await s.expireLease();
    expect(await s.cancel(s.turn(1))).toEqual({ outcome: 'cancelled', head: at(s.turn(2)) });
    const before = await dump(redis.client);
    expect(await s.renew(s.turn(1), proof)).toBe('lost');
    expect(await s.append(s.turn(1), proof, [{ type: 'late' }])).toBe(-1);
    expect(await s.release(s.turn(1), proof, 'retry')).toBe('lost');
    expect((await s.commit(s.turn(1), proof)).outcome).toBe('already');
    expect(await dump(redis.client)).toEqual(before);
    expect((await s.claim(s.turn(2), 'n2')).outcome).toBe('claimed');
  });

  it('ends a turn that was given back and waits for its next worker', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.release(s.turn(1), await s.take(s.turn(1)), 'retry');
    expect((await s.cancel(s.turn(1))).outcome).toBe('cancelled');
  });

  it('is remembered by whoever takes the turn over', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1), 'n1');
    await s.cancel(s.turn(1));
    await s.expireLease();
    expect(await s.claim(s.turn(1), 'n2')).toMatchObject({ outcome: 'claimed', isCancelled: true });
    expect(await s.renew(s.turn(1), { token: 2, nonce: 'n2' })).toBe('cancel');
  });

  it('leaves a finished turn and an unknown one alone', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)));
    const before = await dump(redis.client);
    expect(await s.cancel(s.turn(1))).toEqual({ outcome: 'finished', head: undefined });
    expect(await s.cancel(s.turn(2))).toEqual({ outcome: 'unknown', head: undefined });
    expect(await dump(redis.client)).toEqual(before);
  });

  it('leaves the turn in the history', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.cancel(s.turn(1), '{}', ['{"m":1}', '{"m":2}']);
    expect(await redis.client.lrange(s.keys.messages, 0, -1)).toEqual(['{"m":1}', '{"m":2}']);
    await s.cancel(s.turn(1), '{}', ['{"m":3}']);
    expect(await redis.client.llen(s.keys.messages)).toBe(2);
  });

  it('adds nothing to the history for a turn that runs; its worker does', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    await s.cancel(s.turn(1), '{}', ['{"m":1}']);
    expect(await redis.client.exists(s.keys.messages)).toBe(0);
  });

  it('lets a session expire whose last turn was cancelled while it waited, and no other', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const parts = { messages: ['m'], state: { a: '1' }, artifacts: ['a'], workspace: '{}' };
    await s.commit(s.turn(1), await s.take(s.turn(1)), parts);
    await s.enqueue(s.turn(2));
    await s.enqueue(s.turn(3));
    const { session, messages, skillState, artifacts, workspace } = s.keys;
    const kept = [session, messages, skillState, artifacts, workspace];
    const ttls = () => Promise.all(kept.map((key) => redis.client.ttl(key)));
    await s.cancel(s.turn(2));
    expect(await ttls()).toEqual(kept.map(() => -1));
    await s.cancel(s.turn(3));
    for (const ttl of await ttls()) expect(ttl > resultTtl && ttl <= sessionTtl).toBe(true);
  });

  it('ends a turn that is delayed, and one that is to join another', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.accept(s.turn(2), { delayMs: 60_000 });
    await s.accept(s.turn(3), { onBusy: 'steer' });
    expect(await s.cancel(s.turn(2))).toEqual({ outcome: 'cancelled', head: at(s.turn(1)) });
    expect((await s.cancel(s.turn(3))).outcome).toBe('cancelled');
    expect(await redis.client.exists(s.keys.delayed, s.keys.steered)).toBe(0);
    expect(await s.commit(s.turn(1), proof)).toEqual({ outcome: 'committed', head: undefined });
  });

  it('asks for a new result when somebody has got further meanwhile', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await redis.client.rpush(s.turnKeys(s.turn(1)).journal, '{}');
    const before = await dump(redis.client);
    expect((await s.cancel(s.turn(1), '{}', [], 0)).outcome).toBe('changed');
    expect(await dump(redis.client)).toEqual(before);
    expect((await s.cancel(s.turn(1), '{}', [], 1)).outcome).toBe('cancelled');
  });

  it('keeps an artifact once that the history has from the turn it tries again', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const artifacts = ['{"a":1}', '{"a":2}'];
    await s.commit(s.turn(1), await s.take(s.turn(1)), { status: 'failed', artifacts });
    await s.enqueue(s.turn(2));
    const again = { artifacts: ['{"a":2}', '{"a":3}'] };
    await s.commit(s.turn(2), await s.take(s.turn(2), 'n2'), again);
    const kept = await redis.client.lrange(s.keys.artifacts, 0, -1);
    expect(kept).toEqual(['{"a":1}', '{"a":2}', '{"a":3}']);
  });

  it('works when Redis has forgotten its scripts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await redis.client.script('FLUSH');
    expect((await s.cancel(s.turn(1))).outcome).toBe('cancelled');
  });
});

describe('ask-to-cancel', () => {
  it('asks the worker of a turn that runs', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    expect(await s.askToCancel(s.turn(1))).toBe('requested');
    expect(await s.renew(s.turn(1), proof)).toBe('cancel');
  });

  it('leaves one alone that nobody runs, that is over, or that is unknown', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    await s.enqueue(s.turn(3));
    await s.commit(s.turn(1), await s.take(s.turn(1)));
    await s.take(s.turn(2), 'n2');
    await s.expireLease();
    const before = await dump(redis.client);
    const turns = [s.turn(1), s.turn(2), s.turn(3), s.turn(4)];
    const replies = await Promise.all(turns.map((id) => s.askToCancel(id)));
    expect(replies).toEqual(['finished', 'idle', 'idle', 'unknown']);
    expect(await dump(redis.client)).toEqual(before);
  });

  it('leaves the head of the line to its next worker when asked to, and no other', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    expect(await s.askToCancel(s.turn(2), true)).toBe('idle');
    expect(await s.askToCancel(s.turn(1), true)).toBe('requested');
    expect(await s.claim(s.turn(1))).toMatchObject({ outcome: 'claimed', isCancelled: true });
  });
});
