import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { StoredFile } from '../../../../src/shared/results/stored-request.js';
import { SessionFiles } from '../../../../src/worker/workspace/snapshot/session-files.js';
import { begin, blobs, contentOf, sha256, signal } from './snapshot-desk.js';

describe('the inputs of a turn', () => {
  const inline = (path: string, text: string): StoredFile => ({
    ...{ path, sha256: sha256(Buffer.from(text)), sizeBytes: text.length },
    base64: Buffer.from(text).toString('base64'),
  });

  it('are among the session’s files, in place of what stood in their way', async () => {
    const first = await begin();
    await mkdir(first.at('work/inputs/a/deep'), { recursive: true });
    await writeFile(first.at('work/inputs/a/deep/f'), 'old');
    await writeFile(first.at('work/inputs/b'), 'a file');
    await symlink('/etc', first.at('work/inputs/c'));
    await first.files.save(first.sandbox);
    const inputs = [
      inline('a', 'A'),
      inline('b/x', 'BX'),
      inline('c/passwd', 'C'),
      inline('e', ''),
    ];
    const second = await begin({ base: first.files.version, inputs });
    const paths = (await contentOf(second.sandbox)).map(({ path }) => path);
    expect(paths).toEqual([
      ...['work/inputs/a', 'work/inputs/b', 'work/inputs/b/x'],
      ...['work/inputs/c', 'work/inputs/c/passwd', 'work/inputs/e'],
    ]);
    const texts = ['a', 'b/x', 'c/passwd', 'e'].map((path) =>
      readFile(second.at(`work/inputs/${path}`), 'utf8'),
    );
    expect(await Promise.all(texts)).toEqual(['A', 'BX', 'C', '']);
  });

  it('refer to no blob of an input that a later one has replaced', async () => {
    const one = async (base: SessionFiles | undefined, text: string) => {
      const files = new SessionFiles({
        ...{ base: base?.version, inputs: [inline('x', text)], blobs, signal },
        limits: { bytes: 1e9, entries: 10 },
      });
      await files.keepInputs();
      return files;
    };
    const second = await one(await one(undefined, 'first'), 'second');
    expect(second.version?.blobs).toEqual([sha256(Buffer.from('second'))]);
  });

  it('leave a word when a command puts something in the place of their folder', async () => {
    const { at, files, sandbox } = await begin();
    await writeFile(at('work/f'), 'kept');
    await rm(at('work/inputs'), { recursive: true });
    await symlink('/etc', at('work/inputs'));
    await files.save(sandbox);
    expect(await files.leftOut()).toEqual([
      { path: 'work/inputs', reason: expect.stringContaining('stands where') as string },
    ]);
    const second = await begin({ base: files.version, inputs: [inline('a', 'A')] });
    expect((await contentOf(second.sandbox)).map(({ path }) => path)).toEqual([
      'work/f',
      'work/inputs/a',
    ]);
  });

  it('are kept also when no command ran, and twice the same bytes are two files', async () => {
    const large = await blobs.put([Buffer.alloc(400_000, 7)]);
    const inputs = [{ path: 'x', ...large }, { path: 'y', ...large }, inline('z', 'Z')];
    const files = new SessionFiles({
      ...{ base: undefined, inputs, blobs, signal },
      limits: { bytes: 1e9, entries: 10 },
    });
    await files.keepInputs();
    const tooMany = new SessionFiles({
      ...{ base: undefined, inputs, blobs, signal },
      limits: { bytes: 800_000, entries: 10 },
    });
    await expect(tooMany.keepInputs()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(tooMany.version).toBeUndefined();
    expect(files.version).toMatchObject({ version: 1, files: 3, sizeBytes: 800_001 });
    const { at } = await begin({ base: files.version });
    const [x, y] = await Promise.all(['x', 'y'].map((path) => readFile(at(`work/inputs/${path}`))));
    expect([x?.length, x?.equals(y ?? Buffer.alloc(0))]).toEqual([400_000, true]);
  });
});
