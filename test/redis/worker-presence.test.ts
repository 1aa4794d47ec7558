import { expect, it } from 'vitest';
import { deploymentId } from '../../src/shared/redis/deployment.js';
import { beat, isWorkerAlive, leave } from '../../src/worker/worker-presence.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

it('a worker lives from its first beat until it leaves', async () => {
  expect(await isWorkerAlive(redis.client, 'w1')).toBe(false);
  await beat(redis.client, 'w1');
  expect(await isWorkerAlive(redis.client, 'w1')).toBe(true);
  expect(await isWorkerAlive(redis.client, 'w2')).toBe(false);
  await leave(redis.client, 'w1');
  expect(await isWorkerAlive(redis.client, 'w1')).toBe(false);
});

it('a sign of life expires, and each beat renews it', async () => {
  await beat(redis.client, 'w1');
  await redis.client.expire('skillmill:worker:w1', 1);
  await beat(redis.client, 'w1');
  const ttl = await redis.client.ttl('skillmill:worker:w1');
  expect(ttl > 1 && ttl <= 30).toBe(true);
});

it('leaving twice, or without having come, is no error', async () => {
  await leave(redis.client, 'w1');
  await leave(redis.client, 'w1');
});

it('a deployment has one id, whoever asks first', async () => {
  const ids = await Promise.all(Array.from({ length: 10 }, () => deploymentId(redis.client)));
  expect(new Set(ids).size).toBe(1);
  expect(await deploymentId(redis.client)).toBe(ids[0]);
  expect(await redis.client.ttl('skillmill:deployment')).toBe(-1);
});
