import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

export interface UsedRedis {
  readonly client: Redis;
  readonly url: string;
}

/** A server of the file's own, empty for each test, scripts included; a file that leaves a connection open fails. */
export function useRedis(): UsedRedis {
  let server: TestRedis | undefined;
  let client: Redis | undefined;
  const started = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('Redis is there only while tests run');
    return part;
  };
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });
  beforeEach(async () => {
    await started(client).flushall();
    await started(client).script('FLUSH');
  });
  afterAll(async () => {
    try {
      await eventually('the end of every connection that the tests opened', async () => {
        const list = String(await started(client).client('LIST'));
        if (list.trim().split('\n').length === 1) return true;
        throw new Error(list);
      });
    } finally {
      client?.disconnect();
      await server?.stop();
    }
  });
  return {
    get client() {
      return started(client);
    },
    get url() {
      return started(server).url;
    },
  };
}

/** Jobs of the queue that wait or are delayed, and jobs that run, as BullMQ keeps them. */
export async function jobCounts(redis: Redis): Promise<{ waiting: number; running: number }> {
  const base = '{skillmill-queue}:turns';
  const lists = [
    await redis.llen(`${base}:wait`),
    await redis.zcard(`${base}:prioritized`),
    await redis.zcard(`${base}:delayed`),
  ];
  return {
    waiting: lists.reduce((sum, length) => sum + length, 0),
    running: await redis.llen(`${base}:active`),
  };
}
