import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFolderBlobStore } from '../../src/shared/blobs/folder-blob-store.js';
import { createS3BlobStore } from '../../src/shared/blobs/s3-blob-store.js';
import { freePort } from '../support/redis-server.js';
import { hasS3Server, startS3, type TestS3 } from '../support/s3-server.js';
import { tempDir } from '../support/temp-dir.js';
import { describeBlobStore } from './blob-store.js';

const run = promisify(execFile);
const built = fileURLToPath(
  new URL('../../dist/shared/blobs/folder-blob-store.js', import.meta.url),
);
const putSame = `const [, store, dir] = process.argv;
const { createFolderBlobStore } = await import(store);
process.stdout.write((await createFolderBlobStore(dir).put([Buffer.from('same')])).sha256);`;

describe('a folder', () => {
  let dir = '';
  beforeAll(async () => void (dir = await mkdtemp(join(tmpdir(), 'skillmill-test-'))));
  afterAll(() => rm(dir, { recursive: true, force: true }));
  describeBlobStore('folder', {
    store: () => createFolderBlobStore(dir),
    dataFiles: async () => {
      const all = await readdir(join(dir, 'blobs'), { recursive: true, withFileTypes: true });
      return all.filter((it) => it.isFile()).map((it) => join(it.parentPath, it.name));
    },
  });
});

describe('a folder', () => {
  it('keeps the file that is there when the same bytes come again', async () => {
    const dir = await tempDir();
    const store = createFolderBlobStore(dir);
    const { sha256 } = await store.put([Buffer.from('once')]);
    const path = join(dir, 'blobs', sha256.slice(0, 2), sha256);
    await utimes(path, 1, 1);
    const before = await stat(path);
    await store.put([Buffer.from('once')]);
    const after = await stat(path);
    expect(after.ino).toBe(before.ino);
    expect(after.mtimeMs).toBeGreaterThan(before.mtimeMs);
  });

  it('has a damaged file mended when its bytes come again', async () => {
    const dir = await tempDir();
    const store = createFolderBlobStore(dir);
    const { sha256 } = await store.put([Buffer.from('whole')]);
    await writeFile(join(dir, 'blobs', sha256.slice(0, 2), sha256), 'holes');
    await store.put([Buffer.from('whole')]);
    expect(String(await buffer(await store.open(sha256)))).toBe('whole');
  });

  it('loses no blob to a collector that dies while it looks at it', async () => {
    const dir = await tempDir();
    const store = createFolderBlobStore(dir);
    const { sha256 } = await store.put([Buffer.from('once')]);
    const path = join(dir, 'blobs', sha256.slice(0, 2), sha256);
    await rename(path, join(dir, 'incoming', `${sha256}.${randomUUID()}`));
    await store.sweepUnfinished(new Date(Date.now() + 60_000));
    expect(await store.has(sha256)).toBe(true);
    expect(await readdir(join(dir, 'incoming'))).toEqual([]);
  });
});

const as = (user: number, source: string, ...args: string[]) =>
  run('setpriv', [
    ...[`--reuid=${user}`, `--regid=${user}`, '--clear-groups', process.execPath],
    ...['--input-type=module', '-e', source, built, ...args],
  ]);
/** Root alone can be others, who may not be able to look into the folder of this clone. */
const canBeOthers = await as(1234, 'await import(process.argv[1]);').then(
  () => true,
  () => false,
);

describe.runIf(canBeOthers)('a folder that several users share', () => {
  it('takes the same bytes from each of them', async () => {
    const dir = await tempDir();
    await chmod(dir, 0o777);
    const { sha256 } = await createFolderBlobStore(dir).put([Buffer.from('same')]);
    for (const path of ['blobs', 'incoming', join('blobs', sha256.slice(0, 2))]) {
      await chmod(join(dir, path), 0o777);
    }
    expect((await as(1234, putSame, dir)).stdout).toBe(sha256);
    expect((await as(1235, putSame, dir)).stdout).toBe(sha256);
  });
});

describe.runIf(process.getuid?.() === 0)('a folder on a disk that is full', () => {
  it('says so, and keeps nothing half done', async () => {
    const dir = await tempDir();
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir]);
    onTestFinished(async () => {
      await run('umount', [dir]);
    });
    const store = createFolderBlobStore(dir);
    await expect(store.put([randomBytes(4 * 1024 * 1024)])).rejects.toMatchObject({
      code: 'BLOB_UNAVAILABLE',
      message: expect.stringContaining('The disk is full') as string,
    });
    expect(await readdir(join(dir, 'incoming'))).toEqual([]);
    expect(await store.put([Buffer.from('small')])).toMatchObject({ sizeBytes: 5 });
  });
});

describe.runIf(await hasS3Server())('a bucket', () => {
  let server: TestS3 | undefined;
  const started = () => {
    if (server === undefined) throw new Error('the server is there only while tests run');
    return server;
  };
  beforeAll(async () => void (server = await startS3()));
  afterAll(() => server?.stop());
  describeBlobStore('S3', {
    store: () => createS3BlobStore(started().config),
    dataFiles: () => started().dataFiles(),
  });

  it('gives out URLs that read a blob without credentials', async () => {
    const store = createS3BlobStore(started().config);
    const { sha256 } = await store.put([Buffer.from('for all')]);
    const url = await store.signedUrl(sha256, 60);
    expect(await (await fetch(url)).text()).toBe('for all');
    expect((await fetch(url.split('?')[0] ?? '')).ok).toBe(false);
  });

  it('says what to check when it cannot be used', async () => {
    const { config } = started();
    const cases = [
      [{ endpoint: `http://127.0.0.1:${await freePort()}` }, 'SKILLMILL_S3_ENDPOINT'],
      [{ bucket: 'not-there' }, 'SKILLMILL_S3_BUCKET'],
      [
        { credentials: { accessKeyId: 'skillmill:test', secretAccessKey: 'wrong' } },
        'AWS_SECRET_ACCESS_KEY',
      ],
    ] as const;
    for (const [wrong, named] of cases) {
      const store = createS3BlobStore({ ...config, ...wrong });
      const fault = { code: 'BLOB_UNAVAILABLE', message: expect.stringContaining(named) as string };
      await expect(store.id()).rejects.toMatchObject(fault);
      await expect(store.open('0'.repeat(64))).rejects.toMatchObject(fault);
    }
  });
});
