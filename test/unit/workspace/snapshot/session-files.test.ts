import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHead } from '../../../../src/shared/blobs/blob-bytes.js';
import type { BlobStore } from '../../../../src/shared/blobs/blob-store.js';
import { createFolderBlobStore } from '../../../../src/shared/blobs/folder-blob-store.js';
import type { WorkspaceVersion } from '../../../../src/shared/contracts/index.js';
import { SkillmillError } from '../../../../src/shared/errors/skillmill-error.js';
import { tempDir } from '../../../support/temp-dir.js';
import { begin, blobs, contentOf } from './snapshot-desk.js';

/** Counts what a store is given. */
function counting(store: BlobStore) {
  const put: number[] = [];
  const counted: BlobStore = {
    open: (name) => store.open(name),
    async put(source, until) {
      const info = await store.put(source, until);
      put.push(info.sizeBytes);
      return info;
    },
  };
  return { store: counted, put };
}

const name = fc.stringMatching(/^[a-zü é*"'-]{1,12}$/).filter((text) => text.trim() !== '');
const step = fc.record({
  path: fc.tuple(fc.constantFrom('work', 'out'), fc.array(name, { minLength: 1, maxLength: 4 })),
  what: fc.oneof(
    fc.record({ kind: fc.constant('file' as const), size: fc.nat(3000), fill: fc.nat(255) }),
    fc.record({ kind: fc.constant('folder' as const) }),
    fc.record({ kind: fc.constant('link' as const), target: name }),
    fc.record({ kind: fc.constant('gone' as const) }),
  ),
  mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Does to a workspace what a command might. What cannot be done there is passed over. */
async function apply(root: string, { path: [top, parts], what, mode }: Step): Promise<void> {
  const at = join(root, top, ...parts);
  try {
    if (what.kind === 'gone') {
      await rm(at, { recursive: true, force: true });
      return;
    }
    await mkdir(dirname(at), { recursive: true });
    if (what.kind === 'folder') await mkdir(at, { recursive: true });
    else if (what.kind === 'link') await symlink(what.target, at);
    else {
      await writeFile(at, Buffer.alloc(what.size, what.fill));
      await chmod(at, mode);
    }
  } catch {
    // a file where a folder is to be, say
  }
}

describe('the files of a session', () => {
  it('are the same after any number of turns, whatever each changed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 5 }),
        async (turns) => {
          let base: WorkspaceVersion | undefined;
          let left: unknown = [];
          for (const steps of [...turns, []]) {
            const turn = await begin({ base });
            expect(await contentOf(turn.sandbox)).toEqual(left);
            for (const each of steps) await apply(turn.sandbox.workspaceDir, each);
            await turn.files.save(turn.sandbox);
            left = await contentOf(turn.sandbox);
            base = turn.files.version ?? base;
            await turn.sandbox.close();
          }
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);

  it('cost what changed: nothing when nothing did, one file when one did, and no large file twice', async () => {
    const first = await begin();
    await writeFile(first.at('work/large'), Buffer.alloc(5_000_000, 1));
    for (let n = 0; n < 50; n += 1) await writeFile(first.at(`work/f${n}`), Buffer.alloc(1000, n));
    await first.files.save(first.sandbox);
    const base = first.files.version;
    expect(base).toMatchObject({ version: 1, files: 51, sizeBytes: 5_050_000 });

    const idle = counting(blobs);
    const second = await begin({ base, store: idle.store });
    await second.files.save(second.sandbox);
    expect([second.files.version, idle.put]).toEqual([undefined, []]);

    const busy = counting(blobs);
    const third = await begin({ base, store: busy.store });
    await writeFile(third.at('work/f7'), 'other');
    await third.files.save(third.sandbox);
    const [changed, manifest, ...more] = busy.put;
    expect([changed, more]).toEqual([5, []]);
    expect(manifest).toBeLessThan(10_000);
    expect(third.files.version).toMatchObject({ version: 2, files: 51, sizeBytes: 5_049_005 });
  });

  it('cost nothing also when a skill’s environment is put back after them, be it unchanged', async () => {
    const venv = 'skills/tool/.venv';
    const first = await begin();
    await mkdir(first.at(venv), { recursive: true });
    await first.files.restore(first.sandbox, [venv]);
    await writeFile(first.at('work/f'), 'work');
    await writeFile(first.at(`${venv}/pyvenv.cfg`), 'home');
    await first.files.save(first.sandbox);
    expect(first.files.version).toMatchObject({ files: 2 });

    const { store, put } = counting(blobs);
    const second = await begin({ base: first.files.version, store });
    await mkdir(second.at(venv), { recursive: true });
    await second.files.restore(second.sandbox, [venv]);
    await second.files.save(second.sandbox);
    expect([second.files.version, put]).toEqual([undefined, []]);
  });

  it('are told of also when all that a command left is what cannot be kept', async () => {
    const first = await begin();
    await writeFile(first.at('work/f'), 'work');
    await first.files.save(first.sandbox);
    const second = await begin({ base: first.files.version });
    execFileSync('mkfifo', [second.at('work/pipe')]);
    await second.files.save(second.sandbox);
    const third = await begin({ base: second.files.version });
    expect(await third.files.leftOut()).toMatchObject([{ path: 'work/pipe' }]);
    await third.files.save(third.sandbox);
    const fourth = await begin({ base: third.files.version });
    expect(await fourth.files.leftOut()).toEqual([]);
  });

  it('are written anew without what is no longer used, and small blobs are put together', async () => {
    let base: WorkspaceVersion | undefined;
    for (let turn = 0; turn < 40; turn += 1) {
      const { sandbox, files, at } = await begin({ base });
      await writeFile(at(`work/of-turn-${turn}`), `${turn}`);
      await files.save(sandbox);
      base = files.version;
      await sandbox.close();
    }
    expect(base).toMatchObject({ version: 40, files: 40 });
    expect(base?.blobs.length).toBeLessThan(34);
    const wasted = await begin({ base });
    await writeFile(wasted.at('work/of-turn-1'), 'x'.repeat(900_000));
    await writeFile(wasted.at('work/small'), 'small');
    await wasted.files.save(wasted.sandbox);
    await rm(wasted.at('work/of-turn-1'));
    await wasted.files.save(wasted.sandbox);
    await writeFile(wasted.at('work/other'), 'other');
    await wasted.files.save(wasted.sandbox);
    const again = await begin({ base: wasted.files.version });
    expect(await readFile(again.at('work/small'), 'utf8')).toBe('small');
  });

  it('are those of the version before when a store fails half-way, and saved at the next try', async () => {
    const first = await begin();
    await writeFile(first.at('work/f'), 'one');
    await first.files.save(first.sandbox);
    const base = first.files.version;
    let failing = true;
    const store: BlobStore = {
      open: (sha) => blobs.open(sha),
      async put(source, until) {
        if (!failing) return blobs.put(source, until);
        await readHead(source, 1000);
        throw new SkillmillError('BLOB_UNAVAILABLE', 'The store went away.');
      },
    };
    const second = await begin({ base, store });
    await writeFile(second.at('work/f'), 'two');
    await writeFile(second.at('work/large'), Buffer.alloc(3_000_000));
    await expect(second.files.save(second.sandbox)).rejects.toThrow('The store went away.');
    expect(second.files.version).toBeUndefined();
    expect(await readFile((await begin({ base })).at('work/f'), 'utf8')).toBe('one');
    failing = false;
    await second.files.save(second.sandbox);
    expect(await readFile((await begin({ base: second.files.version })).at('work/f'), 'utf8')).toBe(
      'two',
    );
  });

  it('are not put back when a blob is damaged or gone, and say which', async () => {
    const dir = await tempDir();
    const store = createFolderBlobStore(dir);
    const first = await begin({ store });
    await writeFile(first.at('work/f'), 'content');
    await first.files.save(first.sandbox);
    const base = first.files.version;
    const [blob = ''] = base?.blobs ?? [];
    const path = join(dir, 'blobs', blob.slice(0, 2), blob);
    await writeFile(path, 'CONTENT');
    await expect(begin({ base, store })).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
    await writeFile(path, 'con');
    await expect(begin({ base, store })).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
    await rm(path);
    await expect(begin({ base, store })).rejects.toMatchObject({ code: 'BLOB_NOT_FOUND' });
  });

  it('are refused past the limits, before a byte is stored', async () => {
    const few = counting(blobs);
    const limits = { bytes: 1000, entries: 3 };
    const turn = await begin({ limits, store: few.store });
    await writeFile(turn.at('work/f'), 'x'.repeat(1001));
    const error = { code: 'LIMIT_EXCEEDED', details: { limit: 'workspaceBytes', value: 1000 } };
    await expect(turn.files.save(turn.sandbox)).rejects.toMatchObject(error);
    await rm(turn.at('work/f'));
    for (const each of ['a', 'b', 'c', 'd']) await writeFile(turn.at(`work/${each}`), '');
    await expect(turn.files.save(turn.sandbox)).rejects.toMatchObject({
      details: { limit: 'workspaceEntries' },
    });
    expect(few.put).toEqual([]);
    await rm(turn.at('work/d'));
    await turn.files.save(turn.sandbox);
    expect(turn.files.version).toMatchObject({ files: 3, sizeBytes: 0 });
  });
});
