import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confirmReplicas } from '../../src/shared/redis/confirm-replicas.js';
import { closeRedis, connectRedis, requireRedis } from '../../src/shared/redis/redis-client.js';
import { eventually } from '../support/eventually.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import {
  hasRedisServer,
  startPrivateRedis,
  type RestartableRedis,
} from '../support/redis-server.js';

/** How often a server has been asked to WAIT. */
async function waits(server: Redis): Promise<number> {
  const stats = await server.info('commandstats');
  return Number(/cmdstat_wait:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

describe.skipIf(!hasRedisServer())('a primary and its replica', () => {
  let primary: RestartableRedis;
  let replica: RestartableRedis;
  let client: Redis;
  beforeAll(async () => {
    primary = await startPrivateRedis();
    replica = await startPrivateRedis();
    client = new Redis(primary.url);
    const { hostname, port } = new URL(primary.url);
    const follower = new Redis(replica.url);
    await follower.replicaof(hostname, port);
    await eventually('a replica that follows', async () =>
      (await follower.info('replication')).includes('master_link_status:up') ? true : undefined,
    );
    follower.disconnect();
  });
  afterAll(async () => {
    client.disconnect();
    await replica.stop();
    await primary.stop();
  });

  it('confirm a write, which is then on both', async () => {
    await client.set('key', 'value');
    await confirmReplicas(client, 'key', { replicas: 1 });
    const follower = new Redis(replica.url);
    expect(await follower.get('key')).toBe('value');
    follower.disconnect();
  });

  it('are not asked when none is wanted', async () => {
    const before = await waits(client);
    await confirmReplicas(client, 'key', { replicas: 0 });
    expect(await waits(client)).toBe(before);
  });

  it('are said to be too few when they are', async () => {
    await client.set('key', 'newer');
    await expect(
      confirmReplicas(client, 'key', { replicas: 2, timeoutMs: 50 }),
    ).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
      message: expect.stringContaining('Only 1 of 2 replicas') as string,
    });
    await replica.halt('SIGKILL');
    await client.set('key', 'newest');
    await expect(
      confirmReplicas(client, 'key', { replicas: 1, timeoutMs: 50 }),
    ).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
      message: expect.stringContaining('Only 0 of 1 replicas') as string,
    });
  });
});

describe('a cluster', () => {
  it('is asked at the node of the key', async () => {
    const cluster = await startRedisCluster();
    const client = connectRedis(cluster.urls, 'client');
    const nodes = cluster.urls.map((url) => new Redis(url));
    try {
      await requireRedis(client, cluster.urls);
      const asked = async (key: string) => {
        await client.set(key, 'value');
        await expect(
          confirmReplicas(client, key, { replicas: 1, timeoutMs: 50 }),
        ).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
        const holders = await Promise.all(
          nodes.map(async (node) => (await node.keys('*')).includes(key)),
        );
        return { holders, waits: await Promise.all(nodes.map(waits)) };
      };
      let total = [0, 0, 0];
      for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
        const found = await asked(key);
        total = total.map((count, index) => count + (found.holders[index] === true ? 1 : 0));
        expect(found.waits).toEqual(total);
      }
      expect(total.filter((count) => count > 0).length).toBeGreaterThan(1);
    } finally {
      for (const node of nodes) node.disconnect();
      closeRedis(client);
      await cluster.stop();
    }
  });
});
