import { createHash, randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { BlobKeeper } from '../../src/shared/blobs/blob-store.js';
import { eventually } from '../support/eventually.js';

export interface BlobStoreUnderTest {
  readonly store: () => BlobKeeper;
  /** Files that hold the blobs' bytes. */
  readonly dataFiles: () => Promise<string[]>;
}

const mebibyte = 1024 * 1024;
const shaOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const future = () => new Date(Date.now() + 86_400_000);

async function* pieces(piece: Uint8Array, count: number) {
  for (let at = 0; at < count; at += 1) {
    await Promise.resolve();
    yield piece;
  }
}

/** What every blob store keeps to. */
export function describeBlobStore(name: string, { store, dataFiles }: BlobStoreUnderTest): void {
  const listed = async () => {
    const all = [];
    for await (const blob of store().list()) all.push(blob);
    return all;
  };

  describe(`blob store: ${name}`, () => {
    it.each([0, 1, 8 * mebibyte - 1, 8 * mebibyte, 8 * mebibyte + 1])(
      'gives back %i bytes as they were',
      async (size) => {
        const bytes = randomBytes(size);
        const info = await store().put([bytes]);
        expect(info).toEqual({ sha256: shaOf(bytes), sizeBytes: size });
        expect(await store().has(info.sha256)).toBe(true);
        expect((await buffer(await store().open(info.sha256))).equals(bytes)).toBe(true);
      },
    );

    it('streams 100 MiB through bounded memory, both ways', async () => {
      const piece = randomBytes(mebibyte);
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      const watched = async function* () {
        for await (const chunk of pieces(piece, 100)) {
          most = Math.max(most, process.memoryUsage().arrayBuffers - before);
          yield chunk;
        }
      };
      const { sha256, sizeBytes } = await store().put(watched());
      expect(sizeBytes).toBe(100 * mebibyte);
      const hash = createHash('sha256');
      for await (const chunk of await store().open(sha256)) {
        hash.update(chunk as Uint8Array);
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
      expect(hash.digest('hex')).toBe(sha256);
      expect(most).toBeLessThan(90 * mebibyte);
    });

    it('keeps the same bytes once, however often and at once they are put', async () => {
      for (const size of [1000, 8 * mebibyte + 1000]) {
        const bytes = randomBytes(size);
        const infos = await Promise.all([1, 2, 3].map(() => store().put([bytes])));
        const { sha256 } = await store().put([bytes]);
        expect(infos.map((info) => info.sha256)).toEqual([sha256, sha256, sha256]);
        expect((await listed()).filter((blob) => blob.sha256 === sha256)).toHaveLength(1);
        expect((await buffer(await store().open(sha256))).equals(bytes)).toBe(true);
      }
    });

    it.each([1, 20])('keeps nothing of a source that fails after %i MiB', async (count) => {
      const before = await listed();
      const failing = async function* () {
        yield* pieces(randomBytes(mebibyte), count);
        await Promise.reject(new Error('the source broke'));
      };
      await expect(store().put(failing())).rejects.toThrow('the source broke');
      expect(await listed()).toEqual(before);
      expect(await store().sweepUnfinished(future())).toBe(0);
    });

    it('keeps nothing of a put that is aborted, and ends with the reason', async () => {
      const before = await listed();
      const stop = new AbortController();
      const reason = new Error('enough');
      const source = async function* () {
        yield* pieces(randomBytes(mebibyte), 20);
        stop.abort(reason);
        yield* pieces(randomBytes(mebibyte), 20);
      };
      await expect(store().put(source(), stop.signal)).rejects.toBe(reason);
      expect(await listed()).toEqual(before);
      await eventually('no upload left', async () =>
        (await store().sweepUnfinished(future())) === 0 ? true : undefined,
      );
    });

    it('refuses a blob whose bytes were changed behind its back', async () => {
      const known = new Set(await dataFiles());
      const { sha256 } = await store().put([randomBytes(300_000)]);
      const file = (await dataFiles()).find((path) => !known.has(path)) ?? 'no file';
      const handle = await open(file, 'r+');
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, 1000);
      byte.writeUInt8(byte.readUInt8() ^ 1);
      await handle.write(byte, 0, 1, 1000);
      await handle.close();
      await expect(buffer(await store().open(sha256))).rejects.toMatchObject({
        code: 'BLOB_CORRUPT',
      });
    });

    it('says that there is no such blob', async () => {
      for (const sha256 of ['0'.repeat(64), '../folder-id', '']) {
        await expect(store().open(sha256)).rejects.toMatchObject({ code: 'BLOB_NOT_FOUND' });
      }
      expect(await store().has('0'.repeat(64))).toBe(false);
      expect(await store().delete('0'.repeat(64), future())).toBe(false);
    });

    it('lists what it holds, and deletes what was not put since', async () => {
      const { sha256 } = await store().put([randomBytes(10)]);
      const entry = (await listed()).find((blob) => blob.sha256 === sha256);
      expect(entry).toMatchObject({ sizeBytes: 10 });
      expect(await store().delete(sha256, new Date(0))).toBe(false);
      expect(await store().has(sha256)).toBe(true);
      expect(await store().delete(sha256, future())).toBe(true);
      expect(await store().has(sha256)).toBe(false);
      expect((await listed()).map((blob) => blob.sha256)).not.toContain(sha256);
    });

    it('counts a blob that is put again as put now', async () => {
      const bytes = randomBytes(10);
      const { sha256 } = await store().put([bytes]);
      const first = (await listed()).find((blob) => blob.sha256 === sha256);
      const then = first?.modifiedAt ?? future();
      await eventually('a later time of the blob', async () => {
        await store().put([bytes]);
        return (await store().delete(sha256, then)) ? Promise.reject(new Error('gone')) : true;
      });
      expect(await store().has(sha256)).toBe(true);
    });

    it('belongs to the first deployment that claims it, until another takes it over', async () => {
      expect(await store().owner()).toBeUndefined();
      await store().claim('first', 'first');
      await store().claim('second', 'first');
      expect(await store().owner()).toBe('first');
      await store().claim('second', 'over');
      expect(await store().owner()).toBe('second');
    });

    it('has one id', async () => {
      const ids = [await store().id(), await store().id()];
      expect(ids[0]).toMatch(/./);
      expect(ids[1]).toBe(ids[0]);
    });
  });
}
