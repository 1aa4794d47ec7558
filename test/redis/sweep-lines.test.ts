import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolderBlobStore } from '../../src/shared/blobs/folder-blob-store.js';
import { enqueueTurn } from '../../src/shared/turns/enqueue-turn.js';
import { createTurnQueue, type TurnQueue } from '../../src/shared/queue/turn-queue.js';
import { sweepLines } from '../../src/worker/sweep-lines.js';
import { SessionLine, tenant } from './session-line.js';
import { jobCounts, useRedis } from './use-redis.js';

const redis = useRedis();
const open = 'skillmill:open-sessions';
const noFault = (error: unknown) => {
  throw error;
};

/** Records which turns get a job, and adds them to the real queue. */
function openQueue(): { queue: TurnQueue; added: string[] } {
  const client = new Redis(redis.url);
  const queue = createTurnQueue(client);
  const added: string[] = [];
  onTestFinished(async () => {
    await queue.close();
    client.disconnect();
  });
  const add: TurnQueue['add'] = async (pointer, options) => {
    added.push(pointer.turnId);
    await queue.add(pointer, options);
  };
  return { queue: { ...queue, add }, added };
}

const remember = (s: SessionLine) => s.mark();
/** As if the session had been marked long ago. */
const age = (s: SessionLine) => redis.client.zadd(open, 1, `${tenant}/${s.tag}`);

describe('sweepLines', () => {
  it('gives the head of a line a job that has none, and only the head', async () => {
    const { queue } = openQueue();
    const s = new SessionLine(redis.client);
    await remember(s);
    await s.enqueue(s.turn(1));
    await s.enqueue(s.turn(2));
    await sweepLines(redis.client, queue, noFault);
    expect(await jobCounts(redis.client)).toEqual({ waiting: 1, running: 0 });
    expect(await redis.client.exists(`{skillmill-queue}:turns:${s.turn(1)}`)).toBe(1);
    await sweepLines(redis.client, queue, noFault);
    expect(await jobCounts(redis.client), 'a second sweep adds nothing').toEqual({
      waiting: 1,
      running: 0,
    });
    expect(await redis.client.zrange(open, 0, -1)).toEqual([`${tenant}/${s.tag}`]);
  });

  it('forgets a session whose line is empty', async () => {
    const { queue, added } = openQueue();
    const s = new SessionLine(redis.client);
    await remember(s);
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)));
    await sweepLines(redis.client, queue, noFault);
    expect(await redis.client.exists(open), 'a producer may be about to enqueue').toBe(1);
    await age(s);
    await sweepLines(redis.client, queue, noFault);
    expect(await redis.client.exists(open)).toBe(0);
    expect(added).toEqual([]);
  });

  it('walks over many sessions', async () => {
    const { queue, added } = openQueue();
    const sessions = Array.from({ length: 450 }, (_, n) => new SessionLine(redis.client, `s${n}`));
    await Promise.all(sessions.map(remember));
    const waiting = sessions.filter((_, n) => n % 3 === 0);
    await Promise.all(waiting.map((s) => s.enqueue(s.turn(1))));
    await Promise.all(sessions.map(age));
    await sweepLines(redis.client, queue, noFault);
    expect(new Set(added)).toEqual(new Set(waiting.map((s) => s.turn(1))));
    expect(await redis.client.zcard(open)).toBe(waiting.length);
  });

  it('does nothing when no session is open', async () => {
    const { queue, added } = openQueue();
    await sweepLines(redis.client, queue, noFault);
    expect(added).toEqual([]);
  });

  it('goes on behind an entry that it does not understand, and tells of it', async () => {
    const { queue, added } = openQueue();
    const s = new SessionLine(redis.client);
    await redis.client.zadd(open, 1, 'nonsense');
    await remember(s);
    await s.enqueue(s.turn(1));
    const faults: unknown[] = [];
    await sweepLines(redis.client, queue, (error) => faults.push(error));
    expect(added).toEqual([s.turn(1)]);
    expect(faults).toHaveLength(1);
  });

  it('finds every accepted turn whose producer could add no job, whatever sweeps ran meanwhile', async () => {
    const { queue, added } = openQueue();
    const producer = {
      ...{ client: redis.client, tenant, blobs: createFolderBlobStore('/nowhere') },
      queue: { ...queue, add: () => Promise.reject(new Error('the producer died')) },
      interrupt: () => Promise.resolve(),
      config: {},
    };
    const accepting = new AbortController();
    const sweeps = (async () => {
      while (!accepting.signal.aborted) await sweepLines(redis.client, queue, noFault);
    })();
    const asked = Array.from({ length: 200 }, (_, n) =>
      enqueueTurn(producer, { input: 'x', sessionId: `s${n}` }).catch(() => undefined),
    );
    await Promise.all(asked);
    accepting.abort();
    await sweeps;
    await sweepLines(redis.client, queue, noFault);
    expect(new Set(added).size).toBe(200);
  });

  it('gives a turn that is not due a job that comes when it is', async () => {
    const { queue, added } = openQueue();
    const s = new SessionLine(redis.client);
    await s.accept(s.turn(1), { delayMs: 3_600_000 });
    await sweepLines(redis.client, queue, noFault);
    expect(added).toEqual([s.turn(1)]);
    expect(await redis.client.zcard('{skillmill-queue}:turns:delayed')).toBe(1);
  });

  it('hurries a job that is delayed longer than its turn, whosever clock was wrong', async () => {
    const { queue } = openQueue();
    const head = new SessionLine(redis.client, 'head');
    const due = new SessionLine(redis.client, 'due');
    const paused = new SessionLine(redis.client, 'paused');
    await head.enqueue(head.turn(1));
    await due.accept(due.turn(1), { delayMs: 3_600_000 });
    await due.fallDue(due.turn(1));
    await paused.enqueue(paused.turn(1));
    await paused.release(paused.turn(1), await paused.take(paused.turn(1)), 'retry', 3_600_000);
    const hourLate = { priority: 1, delayMs: 3_600_000 };
    for (const s of [head, due, paused]) {
      await queue.add({ tenant, sessionId: s.sessionId, turnId: s.turn(1) }, hourLate);
    }
    await sweepLines(redis.client, queue, noFault);
    const turns = [head, due, paused].map((s) => s.turn(1));
    expect([...(await queue.idle(turns))]).toEqual([[paused.turn(1), 'delayed']]);
  });

  it('leaves a turn alone that a worker runs', async () => {
    const { queue, added } = openQueue();
    const s = new SessionLine(redis.client);
    await s.enqueue(s.turn(1));
    await s.take(s.turn(1));
    await sweepLines(redis.client, queue, noFault);
    expect(added).toEqual([]);
    await s.expireLease();
    await sweepLines(redis.client, queue, noFault);
    expect(added).toEqual([s.turn(1)]);
  });
});
