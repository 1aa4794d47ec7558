import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFolderBlobStore } from '../../src/shared/blobs/folder-blob-store.js';
import { enqueueTurn } from '../../src/producer/enqueue-turn.js';
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
  const addHead: TurnQueue['addHead'] = async (ofTenant, sessionId, head) => {
    added.push(head);
    await queue.addHead(ofTenant, sessionId, head);
  };
  return { queue: { ...queue, addHead }, added };
}

const remember = (s: SessionLine) => redis.client.sadd(open, `${tenant}/${s.tag}`);

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
    expect(await redis.client.smembers(open)).toEqual([`${tenant}/${s.tag}`]);
  });

  it('forgets a session whose line is empty', async () => {
    const { queue, added } = openQueue();
    const s = new SessionLine(redis.client);
    await remember(s);
    await s.enqueue(s.turn(1));
    await s.commit(s.turn(1), await s.take(s.turn(1)));
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
    await sweepLines(redis.client, queue, noFault);
    expect(new Set(added)).toEqual(new Set(waiting.map((s) => s.turn(1))));
    expect(await redis.client.scard(open)).toBe(waiting.length);
  });

  it('does nothing when no session is open', async () => {
    const { queue, added } = openQueue();
    await sweepLines(redis.client, queue, noFault);
    expect(added).toEqual([]);
  });

  it('goes on behind an entry that it does not understand, and tells of it', async () => {
    const { queue, added } = openQueue();
    const s = new SessionLine(redis.client);
    await redis.client.sadd(open, 'nonsense');
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
});
