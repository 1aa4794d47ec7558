import { describe, expect, it } from 'vitest';
import type { RedisRole } from '../../src/shared/redis/connection-options.js';
import { closeRedis, connectRedis, requireRedis } from '../../src/shared/redis/redis-client.js';
import { eventually } from '../support/eventually.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { useRedis } from './use-redis.js';
import { writeFault } from './write-fault.js';

const redis = useRedis();

/** A connection of its own through a proxy of its own. */
async function openAlone(role: RedisRole, onEnd: (end: () => Promise<void>) => void) {
  const alone = await startFaultProxy(redis.url);
  const client = connectRedis([alone.url], role);
  onEnd(async () => {
    closeRedis(client);
    await alone.close();
  });
  await requireRedis(client, [alone.url]);
  return { alone, client };
}

describe.concurrent('a half-open connection', { timeout: 25_000 }, () => {
  it('of a worker is noticed without being used, and so is the one after it', async ({
    onTestFinished: onEnd,
  }) => {
    const { alone, client } = await openAlone('worker', onEnd);
    alone.freeze();
    alone.freezeNew();
    await eventually('a new connection', () => alone.opened > 1 || undefined);
    alone.thaw();
    expect(await client.set('of-a-worker', 'x')).toBe('OK');
  });

  it('that BullMQ has made of a worker’s is noticed', async ({ onTestFinished: onEnd }) => {
    const { alone, client } = await openAlone('worker', onEnd);
    const twin = client.duplicate();
    await twin.ping();
    alone.freeze();
    expect(await twin.bzpopmin('nothing', 1)).toBeNull();
  });

  it('of a client is noticed by its next command, which is sent again', async ({
    onTestFinished: onEnd,
  }) => {
    const { alone, client } = await openAlone('client', onEnd);
    alone.freeze();
    expect(await client.set('of-a-client', 'x')).toBe('OK');
  });

  it('of a client fails its command when the next one is half open too', async ({
    onTestFinished: onEnd,
  }) => {
    const { alone, client } = await openAlone('client', onEnd);
    alone.freeze();
    alone.freezeNew();
    expect((await writeFault(client)).message).toContain('Check that it is up');
  });

  it('of a follower is noticed, and its blocking read made again', async ({
    onTestFinished: onEnd,
  }) => {
    const { alone, client } = await openAlone('blocking', onEnd);
    alone.freeze();
    const read = client.xread('BLOCK', 2000, 'STREAMS', 'followed', '0');
    await redis.client.xadd('followed', '1-0', 'a', 'b');
    expect(await read).toEqual([['followed', [['1-0', ['a', 'b']]]]]);
  });
});
