import { describe, expect, it } from 'vitest';
import { blobKey } from '../../src/shared/redis/keys.js';
import { closeRedis, connectRedis, requireRedis } from '../../src/shared/redis/redis-client.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { artifactOf, openGarbageDesk, ttl, workspaceOf } from './garbage-desk.js';
import { SessionLine, tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const gone = [false, false];
const there = [true, true];
const none = '0'.repeat(64);

describe('garbage', () => {
  it('is what nothing refers to, in the store and in Redis', async () => {
    const desk = await openGarbageDesk(redis.client);
    const line = new SessionLine(redis.client);
    const turn = line.turn(1);
    const names = ['artifact', 'manifest', 'part', 'request', 'result', 'noted', 'inline', 'left'];
    const [artifact = '', manifest = '', part = '', request = '', result = '', ...rest] =
      await Promise.all(names.map((name) => desk.old(name)));
    const [noted = '', inline = '', left = ''] = rest;
    const files = [
      { path: 'a', sha256: request, sizeBytes: 1 },
      { path: 'b', sha256: inline, sizeBytes: 1, base64: 'eA==' },
    ];
    await line.enqueue(turn, JSON.stringify({ files }));
    const proof = await line.take(turn);
    await redis.client.sadd(line.turnKeys(turn).blobs, noted);
    await line.commit(turn, proof, {
      result: JSON.stringify({ artifacts: [artifactOf(result)] }),
      artifacts: [JSON.stringify(artifactOf(artifact))],
      workspace: JSON.stringify(workspaceOf(manifest, [part])),
    });
    const rehearsed = await desk.collect({ dryRun: true });
    const report = await desk.collect();
    expect(rehearsed).toEqual({ ...report, dryRun: true });
    expect(report).toMatchObject({ references: 6, storeSkipped: null });
    const counts = {
      seen: { blobs: 8, bytes: names.join('').length },
      kept: { blobs: 6, bytes: names.slice(0, 6).join('').length },
      removed: { blobs: 2, bytes: 'inlineleft'.length },
    };
    expect([report.store, report.redis]).toEqual([counts, counts]);
    for (const sha256 of [artifact, manifest, part, request, result, noted]) {
      expect(await desk.isThere(sha256)).toEqual(there);
      // It lives for its whole time again.
      expect(await redis.client.ttl(blobKey(tenant, sha256))).toBeGreaterThan(ttl - 100);
    }
    expect([await desk.isThere(inline), await desk.isThere(left)]).toEqual([gone, gone]);
  });

  it('is left alone within the grace, and when it is put again while it is collected', async () => {
    const desk = await openGarbageDesk(redis.client);
    const sha256 = await desk.old('again');
    await desk.age(sha256, 3500);
    await desk.ageSmall(sha256, 3500);
    expect((await desk.collect()).store?.removed.blobs).toBe(0);
    expect(await desk.isThere(sha256)).toEqual(there);

    await desk.age(sha256, 7200);
    await desk.ageSmall(sha256, 7200);
    // Asked after everything is listed, and before anything is removed.
    const owner = async () => {
      await desk.keeper.put([Buffer.from('again')]);
      await desk.small.put([Buffer.from('again')]);
      return 'ours';
    };
    const report = await desk.collect({ keeper: { ...desk.keeper, owner } });
    expect([report.store?.kept.blobs, report.redis.kept.blobs]).toEqual([1, 1]);
    expect(await desk.isThere(sha256)).toEqual(there);
    expect((await desk.collect({ graceSeconds: 0 })).redis.removed.blobs).toBe(1);
  });

  it('keeps what is referred to alive in Redis also while the store is out of reach', async () => {
    const desk = await openGarbageDesk(redis.client);
    const sha256 = await desk.old('alive');
    const { keys } = new SessionLine(redis.client);
    await redis.client.rpush(keys.artifacts, JSON.stringify(artifactOf(sha256)));
    await desk.ageSmall(sha256, 7200);
    const owner = () => Promise.reject(new Error('out of reach'));
    const failing = desk.collect({ keeper: { ...desk.keeper, owner } });
    await expect(failing).rejects.toThrow('out of reach');
    expect(await redis.client.ttl(blobKey(tenant, sha256))).toBeGreaterThan(ttl - 100);
    await redis.client.del(keys.artifacts);
  });

  it('is nothing at all when a record cannot be understood; the sentence names it', async () => {
    const desk = await openGarbageDesk(redis.client);
    const sha256 = await desk.old('left');
    const { keys } = new SessionLine(redis.client);
    const base = keys.session.replace(/session$/, '');
    const faults: [string, () => Promise<unknown>][] = [
      [keys.artifacts, () => redis.client.rpush(keys.artifacts, '{"sha256":1}')],
      [keys.workspace, () => redis.client.set(keys.workspace, 'no json')],
      [`${base}turn:x`, () => redis.client.hset(`${base}turn:x`, 'request', '{"files":1}')],
      [`${base}turn:x`, () => redis.client.hset(`${base}turn:x`, 'result', '{}')],
      [`${base}turn:x:blobs`, () => redis.client.sadd(`${base}turn:x:blobs`, 'x')],
      [`${base}journal`, () => redis.client.set(`${base}journal`, '')],
    ];
    for (const [key, spoil] of faults) {
      await spoil();
      const failing = desk.collect();
      await expect(failing).rejects.toMatchObject({ code: 'INTERNAL' });
      await expect(failing).rejects.toThrow(`the record ${key} `);
      await redis.client.del(key);
    }
    await redis.client.set(keys.artifacts, 'of another type');
    await expect(desk.collect()).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    expect(await desk.isThere(sha256)).toEqual(there);
  });

  it('of a store that another deployment has claimed stays, until it is taken over', async () => {
    const desk = await openGarbageDesk(redis.client);
    const sha256 = await desk.old('left');
    const report = await desk.collect({ deployment: 'others' });
    expect(report).toMatchObject({ store: null, redis: { removed: { blobs: 1 } } });
    expect(report.storeSkipped).toMatch(/another deployment \(ours\).*skillmill gc --take-over/);
    expect(await desk.isThere(sha256)).toEqual([true, false]);
    const rehearsed = await desk.collect({ deployment: 'others', takeOver: true, dryRun: true });
    expect(rehearsed.store?.removed.blobs).toBe(1);
    expect(await desk.keeper.owner()).toBe('ours');
    await desk.collect({ deployment: 'others', takeOver: true });
    expect(await desk.isThere(sha256)).toEqual(gone);
    expect(await desk.keeper.owner()).toBe('others');
  });
});

describe('garbage on a Redis Cluster', () => {
  it('is found on every node, and kept when slots are on their way', async () => {
    const cluster = await startRedisCluster();
    const client = connectRedis(cluster.urls, 'worker');
    try {
      await requireRedis(client, cluster.urls);
      const desk = await openGarbageDesk(client);
      const kept = await Promise.all(Array.from({ length: 20 }, (_, n) => desk.old(`kept ${n}`)));
      await Promise.all(Array.from({ length: 20 }, (_, n) => desk.old(`left ${n}`)));
      for (const [n, sha256] of kept.entries()) {
        const { artifacts } = new SessionLine(redis.client, `s${n}`).keys;
        await client.rpush(artifacts, JSON.stringify(artifactOf(sha256)));
      }
      const [first, second] = await Promise.all(
        cluster.urls.slice(0, 2).map(async (url) => {
          const node = connectRedis([url], 'worker');
          const id = String(await node.call('CLUSTER', 'MYID'));
          return { node, id };
        }),
      );
      await first?.node.call('CLUSTER', 'SETSLOT', '0', 'MIGRATING', second?.id ?? none);
      await expect(desk.collect()).rejects.toThrow('moves its slots');
      await first?.node.call('CLUSTER', 'SETSLOT', '0', 'STABLE');
      for (const { node } of [first, second].filter((it) => it !== undefined)) closeRedis(node);
      const report = await desk.collect();
      expect(report).toMatchObject({ references: 20, redis: { removed: { blobs: 20 } } });
      expect(report.store).toMatchObject({ kept: { blobs: 20 }, removed: { blobs: 20 } });
      for (const sha256 of kept) expect(await desk.isThere(sha256)).toEqual(there);
    } finally {
      closeRedis(client);
      await cluster.stop();
    }
  });
});
