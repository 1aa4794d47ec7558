import { expect, it } from 'vitest';
import { createFolderBlobStore } from '../../src/shared/blobs/folder-blob-store.js';
import { createNotedBlobStore } from '../../src/worker/session/noted-blob-store.js';
import { tempDir } from '../support/temp-dir.js';
import { SessionLine } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();

it('notes what a turn has stored for two days, and the commit shortens that to an hour', async () => {
  const line = new SessionLine(redis.client);
  const turn = line.turn(1);
  const { blobs } = line.turnKeys(turn);
  const store = createNotedBlobStore(createFolderBlobStore(await tempDir()), redis.client, blobs);
  await line.enqueue(turn);
  const proof = await line.take(turn);
  const first = await store.put([Buffer.from('one')]);
  await redis.client.expire(blobs, 5);
  const second = await store.put([Buffer.from('two')]);
  expect((await redis.client.smembers(blobs)).sort()).toEqual([first.sha256, second.sha256].sort());
  expect(await redis.client.ttl(blobs)).toBeGreaterThan(172_000);
  await line.commit(turn, proof);
  const left = await redis.client.ttl(blobs);
  expect(left > 3500 && left <= 3600).toBe(true);
});

it('notes nothing of a put that fails', async () => {
  const store = createNotedBlobStore(
    createFolderBlobStore(await tempDir()),
    redis.client,
    'skillmill:{acme:x}:turn:x:blobs',
  );
  const failing = async function* () {
    yield Buffer.from('half');
    await Promise.reject(new Error('the source broke'));
  };
  await expect(store.put(failing())).rejects.toThrow('the source broke');
  expect(await redis.client.keys('*')).toEqual([]);
});
