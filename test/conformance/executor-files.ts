import { afterEach, describe, expect, it } from 'vitest';
import {
  file,
  out,
  paths,
  readAll,
  withSandbox,
  type ExecutorHarness,
} from './executor-harness.js';

/** What holds for listing and reading files in every sandbox. */
export function fileSuite(harness: ExecutorHarness): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('list and read', () => {
    it('give regular files only, and a reason for everything else', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(
          sandbox,
          `echo ok > real.txt; ln -s /etc/passwd leak.txt; ln -s /proc/self hop; ln -s nowhere broken; mkfifo pipe; ln real.txt twin;
           mkdir -p sub/deep; echo x > 'sub/deep/-odd name
with newline ünï "q" *'; touch "$(printf 'bad\\377name')"`,
          { cwd: 'out' },
        );
        const listing = await sandbox.list(['out'], 100);
        const odd = 'out/sub/deep/-odd name\nwith newline ünï "q" *';
        expect(paths(listing.files)).toEqual(['out/real.txt', odd, 'out/twin']);
        expect(listing.files[0]?.sizeBytes).toBe(3);
        expect([...listing.skipped].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
          { path: 'out/bad\uFFFDname', reason: 'a name that is not UTF-8' },
          { path: 'out/broken', reason: 'a symbolic link' },
          { path: 'out/hop', reason: 'a symbolic link' },
          { path: 'out/leak.txt', reason: 'a symbolic link' },
          { path: 'out/pipe', reason: 'a FIFO' },
        ]);
        const wanted = [
          'out/leak.txt',
          'out/twin',
          'out/hop/status',
          'out/real.txt',
          odd,
          'out/pipe',
          'out/none',
          'out/sub',
        ];
        const read = await readAll(sandbox, wanted);
        expect(paths(read)).toEqual(wanted);
        expect(read.map((each) => each.bytes?.toString())).toEqual([
          undefined,
          'ok\n',
          undefined,
          'ok\n',
          'x\n',
          undefined,
          undefined,
          undefined,
        ]);
        expect(read[0]?.error).toContain('link');
        expect(paths((await sandbox.list(['out/hop', 'out/sub/deep'], 9)).files)).toEqual([odd]);
      });
    });

    it('give the same bytes for 100 files, sorted, and say when the limit cut', async () => {
      await withSandbox(executor, async (sandbox) => {
        const line =
          'for i in $(seq 100); do head -c $((i * 1000)) /dev/urandom > f$i; done; sha256sum f* > sums';
        await out(sandbox, line, { cwd: 'out' });
        const listing = await sandbox.list(['out'], 1000);
        expect(paths(listing.files)).toEqual([...paths(listing.files)].sort());
        expect(listing.files).toHaveLength(101);
        const read = await readAll(sandbox, paths(listing.files));
        await sandbox.put(
          read.map(({ path, bytes }) => file(path.replace('out/', 'work/'), bytes ?? '')),
          'command',
        );
        expect(await out(sandbox, 'sha256sum --quiet -c sums && echo same')).toBe('same\n');
        const cut = await sandbox.list(['out'], 5);
        expect(cut).toMatchObject({ truncated: true });
        expect(paths(cut.files)).toEqual(['out/f1', 'out/f10', 'out/f100', 'out/f11', 'out/f12']);
      });
    });

    it('may leave a file unread, or stop early', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(sandbox, 'for i in 1 2 3; do head -c 3000000 /dev/zero > f$i; done', {
          cwd: 'out',
        });
        const seen = [];
        for await (const item of sandbox.read(['out/f1', 'out/f2', 'out/f3'])) seen.push(item.path);
        expect(seen).toEqual(['out/f1', 'out/f2', 'out/f3']);
        for await (const item of sandbox.read(['out/f1', 'out/f2'])) {
          if ('content' in item) item.content.destroy();
          break;
        }
        expect(await out(sandbox, 'echo goes on')).toBe('goes on\n');
      });
    });

    it('change a file’s fingerprint when its content changes, and only then', async () => {
      await withSandbox(executor, async (sandbox) => {
        const print = async () =>
          (await sandbox.list(['out'], 9)).files.map((each) => each.fingerprint);
        await out(sandbox, 'echo one > ../out/f');
        const first = await print();
        expect(await print()).toEqual(first);
        await out(sandbox, 'echo two > ../out/f');
        expect(await print()).not.toEqual(first);
      });
    });

    it('pass over what cannot be read', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(
          sandbox,
          'echo a > a; echo b > b; mkdir shut; touch shut/f; chmod 000 a shut; ls',
          { cwd: 'out' },
        );
        const read = await readAll(sandbox, ['out/a', 'out/b']);
        expect(read[1]?.bytes?.toString()).toBe('b\n');
        const isRoot = (await out(sandbox, 'id -u')) === '0\n';
        if (isRoot) return; // root reads everything: only without isolation, and then there is nothing to show
        expect(read[0]?.error).toContain('may not be read');
        const listing = await sandbox.list(['out'], 9);
        expect(paths(listing.files)).toEqual(['out/a', 'out/b']);
        expect(listing.skipped).toEqual([
          { path: 'out/shut', reason: 'a folder that cannot be opened' },
        ]);
      });
    });
  });
}
