import { afterEach, describe, expect, it } from 'vitest';
import type { WorkspaceEntry } from '../../src/worker/executor/executor.js';
import { file, out, readAll, withSandbox, type ExecutorHarness } from './executor-harness.js';

const folder = (path: string, mode = 0o755): WorkspaceEntry => ({ path, kind: 'directory', mode });
const link = (path: string, target: string): WorkspaceEntry => ({
  path,
  kind: 'symlink',
  mode: 0o777,
  target,
});

/** What holds for the workspace and for putting files into it, in every sandbox. */
export function putSuite(harness: ExecutorHarness): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('the workspace', () => {
    it('has its folders, and commands may write to theirs', async () => {
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, 'ls', { cwd: '' })).toBe('out\nruns\nskills\nwork\n');
        await out(sandbox, 'touch out/a runs/b work/c work/inputs/d', { cwd: '' });
        expect(await sandbox.list(['out', 'runs', 'work', 'none'], 10)).toMatchObject({
          files: [
            { path: 'out/a' },
            { path: 'runs/b' },
            { path: 'work/c' },
            { path: 'work/inputs/d' },
          ],
          skipped: [],
          truncated: false,
        });
      });
    });

    it('is not shared by two sandboxes at once', async () => {
      const [one, two] = await Promise.all(
        [1, 2].map((number) =>
          withSandbox(executor, async (sandbox) => {
            await out(sandbox, `echo ${number} > f; sleep .2`);
            return await out(sandbox, 'cat f');
          }),
        ),
      );
      expect([one, two]).toEqual(['1\n', '2\n']);
    });

    it('takes several operations at once, one after another', async () => {
      await withSandbox(executor, async (sandbox) => {
        const lines = [1, 2, 3].map((number) => out(sandbox, `echo ${number} >> f`));
        const put = sandbox.put([file('work/g', 'g')], 'command');
        await Promise.all([...lines, put]);
        expect(await out(sandbox, 'cat f g')).toBe('1\n2\n3\ng');
      });
    });
  });

  describe('put', () => {
    it('writes files, folders and links with their modes', async () => {
      await withSandbox(executor, async (sandbox) => {
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
        const long = `work/${'d'.repeat(100)}/${'ü'.repeat(100)}.txt`;
        await sandbox.put(
          [
            file('work/inputs/a.bin', bytes, 0o640),
            file('work/run.sh', '#!/bin/sh\necho ran\n', 0o755),
            folder('out/deep', 0o700),
            link('work/here', '../out/deep'),
            file(long, 'long'),
            file('work/-rf', 'dash'),
            file('work/new\nline "q"', 'newline'),
            file('work/empty', ''),
          ],
          'command',
        );
        expect(await out(sandbox, './run.sh && readlink here')).toBe('ran\n../out/deep\n');
        expect(await out(sandbox, 'stat -c %a inputs/a.bin run.sh ../out/deep')).toBe(
          '640\n755\n700\n',
        );
        const found = await readAll(sandbox, [
          'work/inputs/a.bin',
          long,
          'work/-rf',
          'work/new\nline "q"',
          'work/empty',
        ]);
        expect(found[0]?.bytes?.equals(bytes)).toBe(true);
        expect(found.slice(1).map((each) => each.bytes?.toString())).toEqual([
          'long',
          'dash',
          'newline',
          '',
        ]);
      });
    });

    it('replaces links that a command has planted, and follows none', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(
          sandbox,
          'mkdir target; echo old > target/f; echo old > kept; rmdir inputs; ln -s target inputs; ln -s kept file',
        );
        await sandbox.put([file('work/inputs/f', 'new'), file('work/file', 'new')], 'command');
        expect(await out(sandbox, 'cat target/f kept inputs/f file')).toBe('old\nold\nnewnew');
        expect(await out(sandbox, 'stat -c %F inputs file')).toBe('directory\nregular file\n');
      });
    });

    it('makes its way through folders that commands have closed or replaced by files', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(
          sandbox,
          'mkdir -p a/b; chmod 000 a/b a ../runs; rmdir inputs; echo file > inputs',
        );
        await sandbox.put(
          [folder('runs/run_1'), file('work/a/b/f', 'f'), file('work/inputs/g', 'g')],
          'command',
        );
        expect(await out(sandbox, 'touch ../runs/run_1/x; cat a/b/f inputs/g')).toBe('fg');
      });
    });

    it('says so when there is no way, and the sandbox goes on', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(sandbox, 'mkdir -p full/inner');
        const inTheWay = [
          'work/full',
          `work/${'n'.repeat(300)}`,
          `work/${'n'.repeat(300)}/f`,
          `work/${`${'d'.repeat(200)}/`.repeat(25)}f`,
        ];
        for (const path of inTheWay) {
          await expect(sandbox.put([file(path, 'x')], 'command'), path).rejects.toMatchObject({
            code: 'TOOL_FAILED',
          });
        }
        expect(await out(sandbox, 'ls; echo goes on')).toMatch(/full\n[^]*goes on\n$/);
      });
    });

    it('stages skills that commands read but do not write, but for .venv', async () => {
      await withSandbox(executor, async (sandbox) => {
        const skill = [
          folder('skills/s'),
          file('skills/s/SKILL.md', 'read me'),
          file('skills/s/scripts/run.sh', 'echo ran', 0o755),
          folder('skills/s/.venv', 0o777),
          link('skills/s/out', '../../out'),
        ];
        await sandbox.put(skill, 'keeper');
        const cwd = 'skills/s';
        expect(await out(sandbox, 'cat SKILL.md; ./scripts/run.sh', { cwd })).toBe('read meran\n');
        await out(sandbox, 'touch .venv/x; echo made > out/f; mkdir -p .venv/lib/a', { cwd });
        expect(await out(sandbox, 'stat -c %a SKILL.md scripts/run.sh .venv', { cwd })).toMatch(
          /^(444|644)\n(555|755)\n777\n$/,
        );
        await sandbox.put([...skill, file('skills/s/more/new.txt', 'again')], 'keeper');
        expect(await out(sandbox, 'cat more/new.txt; stat -c %a .venv; ls .venv', { cwd })).toBe(
          'again777\nlib\nx\n',
        );
        await sandbox.put([file('metadata.json', '{}')], 'keeper');
      });
    });

    it('refuses what would leave its owner’s folders', async () => {
      await withSandbox(executor, async (sandbox) => {
        const refused = { code: 'INTERNAL' };
        for (const path of [
          'work/f',
          'f',
          'skills',
          'skills/../work/f',
          '/etc/f',
          'skills//f',
          'skills/./f',
        ]) {
          await expect(sandbox.put([file(path, '')], 'keeper'), path).rejects.toMatchObject(
            refused,
          );
        }
        for (const path of ['skills/f', 'metadata.json', 'work', '../f', 'out/../../f', '']) {
          await expect(sandbox.put([file(path, '')], 'command'), path).rejects.toMatchObject(
            refused,
          );
        }
      });
    });
  });

  it('removes, on closing, folders that nobody may open', async () => {
    await withSandbox(executor, async (sandbox) => {
      await out(sandbox, 'mkdir -p a/b && touch a/b/c && chmod 000 a/b a');
    });
  });
}
