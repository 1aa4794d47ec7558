import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openBlobStore } from '../../src/shared/blobs/open-blob-store.js';
import { createFolderBlobStore } from '../../src/shared/blobs/folder-blob-store.js';
import { isSharedStore } from '../../src/shared/blobs/shared-store-check.js';
import { tempDir } from '../support/temp-dir.js';
import { tenant } from './session-line.js';
import { useRedis } from './use-redis.js';

const redis = useRedis();
const limit = 262_144;
const ttl = 600;
const shaOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const keyOf = (sha256: string) => `skillmill:acme:blob:${sha256}`;
const fileOf = (dir: string, sha256: string) => join(dir, 'blobs', sha256.slice(0, 2), sha256);

const openIn = (dataDir: string) =>
  openBlobStore(redis.client, {
    ...{ redisUrls: [], tenant, resultTtlSeconds: ttl, sessionTtlSeconds: 1 },
    dataDir,
  });

const isSharedFolder = (dir: string) => isSharedStore(redis.client, createFolderBlobStore(dir));

const pieces = async function* (bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
};

describe('small blobs', () => {
  it.each([0, 1, limit - 1, limit])('of %i bytes go to Redis and come back', async (size) => {
    const dir = await tempDir();
    const blobs = openIn(dir);
    const bytes = randomBytes(size);
    const info = await blobs.put(pieces(bytes, 60_000));
    expect(info).toEqual({ sha256: shaOf(bytes), sizeBytes: size });
    const left = await redis.client.ttl(keyOf(info.sha256));
    // Three hours more than the longer of a result's time and a session's: collections of garbage renew it in between.
    expect(left > ttl && left <= ttl + 3 * 3600).toBe(true);
    expect(await readdir(dir)).toEqual([]);
    expect((await buffer(await blobs.open(info.sha256))).equals(bytes)).toBe(true);
  });

  it('are put twice at no cost, and live as long as the later put says', async () => {
    const blobs = openIn(await tempDir());
    const { sha256 } = await blobs.put([Buffer.from('same')]);
    await redis.client.expire(keyOf(sha256), 1);
    expect(await blobs.put([Buffer.from('sa'), Buffer.from('me')])).toEqual({
      sha256,
      sizeBytes: 4,
    });
    expect(await redis.client.ttl(keyOf(sha256))).toBeGreaterThan(1);
    expect(await redis.client.keys('*blob:*')).toEqual([keyOf(sha256)]);
  });

  it('that are damaged fail at the end of their stream', async () => {
    const blobs = openIn(await tempDir());
    const { sha256 } = await blobs.put([Buffer.from('right')]);
    await redis.client.set(keyOf(sha256), 'wrong');
    await expect(buffer(await blobs.open(sha256))).rejects.toMatchObject({
      code: 'BLOB_CORRUPT',
    });
  });
});

describe('large blobs', () => {
  it.each([1, 60_000, limit + 1])('go to the folder, in pieces of %i', async (size) => {
    const dir = await tempDir();
    const blobs = openIn(dir);
    const bytes = randomBytes(size === 1 ? limit + 1 : limit * 3);
    const info = await blobs.put(pieces(bytes, size));
    expect(info).toEqual({ sha256: shaOf(bytes), sizeBytes: bytes.length });
    expect(await redis.client.keys('*blob:*')).toEqual([]);
    expect((await readFile(fileOf(dir, info.sha256))).equals(bytes)).toBe(true);
    expect((await buffer(await blobs.open(info.sha256))).equals(bytes)).toBe(true);
  });

  it('are kept once when they are put twice, also at once, and leave nothing half done', async () => {
    const dir = await tempDir();
    const blobs = openIn(dir);
    const bytes = randomBytes(limit + 5);
    const infos = await Promise.all([1, 2, 3].map(() => blobs.put([bytes])));
    expect(new Set(infos.map((info) => info.sha256)).size).toBe(1);
    expect(await readdir(join(dir, 'blobs', shaOf(bytes).slice(0, 2)))).toEqual([shaOf(bytes)]);
    expect(await readdir(join(dir, 'incoming'))).toEqual([]);
  });

  it('whose source fails leave nothing', async () => {
    const dir = await tempDir();
    const failing = async function* () {
      yield randomBytes(limit + 1);
      await Promise.reject(new Error('the source broke'));
    };
    await expect(openIn(dir).put(failing())).rejects.toThrow('the source broke');
    expect(await readdir(join(dir, 'incoming'))).toEqual([]);
    expect(await readdir(dir)).not.toContain('blobs');
  });

  it('that are damaged fail at the end of their stream, however they are damaged', async () => {
    const dir = await tempDir();
    const blobs = openIn(dir);
    const { sha256 } = await blobs.put([randomBytes(limit + 1)]);
    for (const bytes of [randomBytes(limit + 1), randomBytes(5), Buffer.alloc(0)]) {
      await writeFile(fileOf(dir, sha256), bytes);
      await expect(buffer(await blobs.open(sha256))).rejects.toMatchObject({
        code: 'BLOB_CORRUPT',
      });
    }
  });

  it('that are gone are BLOB_NOT_FOUND, with what to do', async () => {
    const dir = await tempDir();
    const blobs = openIn(dir);
    const { sha256 } = await blobs.put([randomBytes(limit + 1)]);
    await rm(fileOf(dir, sha256));
    await expect(blobs.open(sha256)).rejects.toMatchObject({
      code: 'BLOB_NOT_FOUND',
      message: expect.stringContaining('SKILLMILL_DATA_DIR') as string,
    });
  });
});

describe('the shared folder', () => {
  it('is the first comer’s; another one takes no large blob, but small ones all the same', async () => {
    const [first, second] = [await tempDir(), await tempDir()];
    await openIn(first).put([randomBytes(limit + 1)]);
    const blobs = openIn(second);
    const error: unknown = await blobs.put([randomBytes(limit + 1)]).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'BLOB_UNAVAILABLE', retryable: true });
    expect(await blobs.put([Buffer.from('small')])).toMatchObject({ sizeBytes: 5 });
    expect(await readdir(second)).not.toContain('blobs');
  });

  it('is the same for two stores of one folder, and they read each other’s', async () => {
    const dir = await tempDir();
    const bytes = randomBytes(limit + 1);
    const { sha256 } = await openIn(dir).put([bytes]);
    expect((await buffer(await openIn(dir).open(sha256))).equals(bytes)).toBe(true);
    expect(await isSharedFolder(dir)).toBe(true);
  });

  it('is one folder also when many come first at once', async () => {
    const dirs = await Promise.all([1, 2, 3].map(() => tempDir()));
    const answers = await Promise.all([...dirs, ...dirs].map((dir) => isSharedFolder(dir)));
    expect(answers.filter(Boolean)).toHaveLength(2);
    expect(answers.slice(0, 3)).toEqual(answers.slice(3));
  });

  it('is asked for again after it was refused, since it may be mounted later', async () => {
    const [first, second] = [await tempDir(), await tempDir()];
    await isSharedFolder(first);
    const blobs = openIn(second);
    await expect(blobs.put([randomBytes(limit + 1)])).rejects.toThrow();
    await writeFile(join(second, 'folder-id'), await readFile(join(first, 'folder-id')));
    await expect(blobs.put([randomBytes(limit + 1)])).resolves.toMatchObject({});
  });

  it('is none when it cannot be made', async () => {
    const file = join(await tempDir(), 'a-file');
    await writeFile(file, '');
    expect(await isSharedFolder(file)).toBe(false);
    await expect(openIn(file).put([randomBytes(limit + 1)])).rejects.toMatchObject({
      code: 'BLOB_UNAVAILABLE',
    });
  });
});
