import { describe, expect, it } from 'vitest';
import { dump, resultTtl, SessionLine, sessionTtl, wrongProofs } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const everything = {
  messages: ['{"m":1}', '{"m":2}'],
  state: { 'temp:skill:loaded:a': '1', 'temp:skill:docs:a': '*' },
  artifacts: ['{"a":1}'],
  workspace: '{"v":1}',
};

describe('commit-turn', () => {
  it('writes result, history, state, artifacts and the last event in one step', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    const result = '{"output":"done"}';
    const reply = await s.commit(s.turn(1), proof, { ...everything, result, status: 'failed' });
    expect(reply).toEqual({ outcome: 'committed', head: undefined });
    const { turn } = s.turnKeys(s.turn(1));
    expect(await redis.client.hmget(turn, 'status', 'result')).toEqual(['failed', result]);
    expect(await redis.client.lrange(s.keys.messages, 0, -1)).toEqual(everything.messages);
    expect(await redis.client.hgetall(s.keys.skillState)).toEqual(everything.state);
    expect(await redis.client.lrange(s.keys.artifacts, 0, -1)).toEqual(everything.artifacts);
    expect((await s.events(s.turn(1))).at(-1)).toEqual({
      id: '3-0',
      body: { type: 'turn.failed', result: { output: 'done' } },
    });
    expect(await s.line()).toEqual([]);
    expect(await redis.client.hget(s.keys.session, 'leaseTurn')).toBeNull();
  });

  it('may leave what is loaded as it is: a turn that never began must not unload it', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    await s.commit(s.turn(1), await s.take(s.turn(1)), everything);
    await s.commit(s.turn(2), await s.take(s.turn(2)), { state: 'as it is' });
    expect(await redis.client.hgetall(s.keys.skillState)).toEqual(everything.state);
  });

  it('sets the expiries of the turn and of a session that is at rest', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)), everything);
    const { turn, events } = s.turnKeys(s.turn(1));
    const { session, messages, skillState, artifacts, workspace } = s.keys;
    for (const key of [turn, events]) {
      const ttl = await redis.client.ttl(key);
      expect(ttl > 0 && ttl <= resultTtl, key).toBe(true);
    }
    for (const key of [session, messages, skillState, artifacts, workspace]) {
      const ttl = await redis.client.ttl(key);
      expect(ttl > resultTtl && ttl <= sessionTtl, key).toBe(true);
    }
    const expiring = await Promise.all(
      (await redis.client.keys('skillmill:{*')).map((k) => redis.client.ttl(k)),
    );
    expect(expiring).not.toContain(-1);
  });

  it('names the next head and leaves the session without expiry while turns wait', async () => {
    const s = new SessionLine(redis.client);
    for (const n of [1, 2, 3]) await s.enqueue(s.turn(n));
    const reply = await s.commit(s.turn(1), await s.take(s.turn(1)), everything);
    expect(reply).toEqual({ outcome: 'committed', head: { turnId: s.turn(2), priority: 1 } });
    expect(await s.line()).toEqual([s.turn(2), s.turn(3)]);
    expect(await redis.client.ttl(s.keys.session)).toBe(-1);
    expect(await redis.client.ttl(s.keys.messages)).toBe(-1);
    expect((await s.claim(s.turn(2), 'n2')).outcome).toBe('claimed');
  });

  it('adds to history and artifacts, and replaces the skill state', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    await s.commit(s.turn(1), await s.take(s.turn(1)), everything);
    const second = { messages: ['{"m":3}'], state: { b: '2' }, artifacts: ['{"a":2}'] };
    await s.commit(s.turn(2), await s.take(s.turn(2)), second);
    expect(await redis.client.lrange(s.keys.messages, 0, -1)).toHaveLength(3);
    expect(await redis.client.lrange(s.keys.artifacts, 0, -1)).toEqual(['{"a":1}', '{"a":2}']);
    expect(await redis.client.hgetall(s.keys.skillState)).toEqual({ b: '2' });
  });

  it('leaves the workspace version in force where a turn brings none', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    await s.enqueue(s.turn(3));
    await s.commit(s.turn(1), await s.take(s.turn(1)), everything);
    await s.commit(s.turn(2), await s.take(s.turn(2)));
    expect(await redis.client.get(s.keys.workspace)).toBe('{"v":1}');
    await s.commit(s.turn(3), await s.take(s.turn(3)), { workspace: '{"v":2}' });
    expect(await redis.client.get(s.keys.workspace)).toBe('{"v":2}');
  });

  it('lets what the turn has stored beside its result become garbage an hour later', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const { blobs } = s.turnKeys(s.turn(1));
    await redis.client.sadd(blobs, 'a');
    await s.commit(s.turn(1), await s.take(s.turn(1)));
    const ttl = await redis.client.ttl(blobs);
    expect(ttl > 0 && ttl <= 3600).toBe(true);
  });

  it('takes a long history in one step', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const messages = Array.from({ length: 20_000 }, (_, n) => `{"n":${n}}`);
    await s.commit(s.turn(1), await s.take(s.turn(1)), { messages });
    expect(await redis.client.llen(s.keys.messages)).toBe(20_000);
  });

  it.each(wrongProofs({ token: 1, nonce: 'nonce-1' }))('is lost with %s', async (_, wrong) => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    const before = await dump(redis.client);
    expect(await s.commit(s.turn(1), wrong, everything)).toEqual({
      outcome: 'lost',
      head: undefined,
    });
    expect(await dump(redis.client)).toEqual(before);
  });

  it('is lost for who was taken over, and only the new holder’s end counts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const old = await s.take(s.turn(1), 'n1');
    await s.expireLease();
    const now = await s.take(s.turn(1), 'n2');
    expect((await s.commit(s.turn(1), old, { result: '"old"' })).outcome).toBe('lost');
    expect((await s.commit(s.turn(1), now, { result: '"new"' })).outcome).toBe('committed');
    expect((await s.commit(s.turn(1), old, { result: '"old"' })).outcome).toBe('already');
    expect(await redis.client.hget(s.turnKeys(s.turn(1)).turn, 'result')).toBe('"new"');
  });

  it('does not complete while a message that joins the turn is unread, and fails all the same', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    const proof = await s.take(s.turn(1));
    const joined = await s.accept(s.turn(3), { onBusy: 'steer' });
    expect(joined).toMatchObject({ outcome: 'accepted', position: 0 });
    const before = await dump(redis.client);
    expect((await s.commit(s.turn(1), proof, everything)).outcome).toBe('unread');
    expect(await dump(redis.client)).toEqual(before);
    const reply = await s.commit(s.turn(1), proof, { status: 'failed' });
    expect(reply.outcome).toBe('committed');
    expect(await s.line(), 'the message is a turn again, in its place').toEqual([
      s.turn(2),
      s.turn(3),
    ]);
  });

  it('names the next head’s priority, and keeps the order whatever it is', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.accept(s.turn(2), { priority: 2 });
    await s.accept(s.turn(3), { priority: 0 });
    const first = await s.commit(s.turn(1), await s.take(s.turn(1)));
    expect(first.head).toEqual({ turnId: s.turn(2), priority: 2 });
    const second = await s.commit(s.turn(2), await s.take(s.turn(2), 'n2'));
    expect(second.head).toEqual({ turnId: s.turn(3), priority: 0 });
  });

  it('drops the journal of a completed turn, and keeps that of a failed one as long as the result', async () => {
    const s = new SessionLine(redis.client);
    for (const [n, status] of [
      [1, 'completed'],
      [2, 'failed'],
    ] as const) {
      await s.enqueue(s.turn(n));
      const { journal } = s.turnKeys(s.turn(n));
      const proof = await s.take(s.turn(n), `n${n}`);
      await redis.client.rpush(journal, '{}');
      await s.commit(s.turn(n), proof, { status });
      const ttl = await redis.client.ttl(journal);
      if (status === 'completed') expect(ttl).toBe(-2);
      else expect(ttl > 0 && ttl <= resultTtl).toBe(true);
    }
  });

  it('answers already the second time, whatever the proof, and changes nothing', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.commit(s.turn(1), proof, everything);
    const before = await dump(redis.client);
    for (const again of [proof, { token: 9, nonce: 'x' }]) {
      const reply = await s.commit(s.turn(1), again, { ...everything, result: '"other"' });
      expect(reply).toEqual({ outcome: 'already', head: undefined });
    }
    expect(await dump(redis.client)).toEqual(before);
  });

  it('commits with a lease that ran out while nobody took it', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await s.expireLease();
    expect((await s.commit(s.turn(1), proof)).outcome).toBe('committed');
  });

  it('works when Redis has forgotten its scripts', async () => {
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    const proof = await s.take(s.turn(1));
    await redis.client.script('FLUSH');
    expect((await s.commit(s.turn(1), proof)).outcome).toBe('committed');
  });
});
