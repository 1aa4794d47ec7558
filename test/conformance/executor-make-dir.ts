import { afterEach, describe, expect, it } from 'vitest';
import { out, sh, withSandbox, type ExecutorHarness } from './executor-harness.js';

/** What holds for the folder that a command may have made for it, in every sandbox. */
export function makeDirSuite(harness: ExecutorHarness): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('a command with a folder to make', () => {
    it('finds it made, whatever is in the way', async () => {
      await withSandbox(executor, async (sandbox) => {
        const makeDir = 'runs/run_1/a b';
        const more = { cwd: makeDir, makeDir, env: { PATH: '/nowhere' } };
        expect(await out(sandbox, 'pwd', more)).toBe(`${sandbox.workspaceDir}/${makeDir}\n`);
        const spoil = 'touch kept; mkdir run_2; ln -s ../work run_3; echo x > run_4; ls -d run_?';
        expect(await out(sandbox, spoil, { cwd: 'runs' })).toBe('run_1\nrun_2\nrun_3\nrun_4\n');
        await out(sandbox, 'chmod 000 run_2 .', { cwd: 'runs' });
        for (const name of ['run_2', 'run_3', 'run_4', 'run_5']) {
          const at = { cwd: '', makeDir: `runs/${name}` };
          expect(await out(sandbox, `touch runs/${name}/x; ls runs/${name}`, at)).toBe('x\n');
        }
        expect(await out(sandbox, 'ls; stat -c %a ../runs/run_5; ls ../runs/kept')).toBe(
          'inputs\n755\n../runs/kept\n',
        );
      });
    });

    it('does not run when that cannot be made', async () => {
      await withSandbox(executor, async (sandbox) => {
        const makeDir = `runs/${'n'.repeat(300)}`;
        const refused = await sh(sandbox, 'echo ran', { makeDir });
        expect(refused).toMatchObject({ exitCode: 126, stdout: { text: '' } });
        expect(refused.stderr.text).toContain('File name too long');
        for (const outside of ['skills/x', '../x', '', 'runs/../../x', '/tmp/x']) {
          const running = sh(sandbox, 'echo ran', { makeDir: outside });
          await expect(running, outside).rejects.toMatchObject({ code: 'INTERNAL' });
        }
      });
    });
  });
}
