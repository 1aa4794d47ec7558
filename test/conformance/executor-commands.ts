import { afterEach, describe, expect, it } from 'vitest';
import {
  abortOnOutput,
  job,
  never,
  onceOutput,
  out,
  processesWith,
  sh,
  withSandbox,
  type ExecutorHarness,
} from './executor-harness.js';

/** Sleeps of this run only: what another run left behind must not be taken for ours. */
const mark = 1000 + Math.floor(Math.random() * 8999);

/** What holds for commands in every sandbox. */
export function commandSuite(harness: ExecutorHarness): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('a command', () => {
    it('gives its exit code, also that of a signal', async () => {
      await withSandbox(executor, async (sandbox) => {
        for (const code of [0, 1, 42, 126, 255]) {
          expect((await sh(sandbox, `exit ${code}`)).exitCode).toBe(code);
        }
        const killed = await sh(sandbox, 'echo before; kill -KILL $$');
        expect(killed).toMatchObject({ exitCode: 137, timedOut: false, outOfMemory: false });
        expect([killed.stdout.text, killed.stderr.text]).toEqual(['before\n', '']);
        expect((await sh(sandbox, 'kill -TERM $$')).exitCode).toBe(143);
        expect((await sh(sandbox, 'no-such-program')).exitCode).toBe(127);
      });
    });

    it('is taken verbatim, whatever the line holds', async () => {
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, `printf '%s' "a'b" '"' '$HOME' '\\' \`echo x\` # "`)).toBe(
          `a'b"$HOME\\x`,
        );
        expect(await out(sandbox, 'echo one\n\necho "two"')).toBe('one\ntwo\n');
        expect((await sh(sandbox, '-c "echo no"')).exitCode).toBe(127);
        const long = 'x'.repeat(120_000);
        expect(await out(sandbox, `echo ${long} | wc -c`)).toBe('120001\n');
      });
    });

    it('is asked to end before it is killed, and says what it has to say', async () => {
      await withSandbox(executor, async (sandbox) => {
        const line = `trap 'echo leaving; exit 3' TERM; echo begun; while :; do sleep .1; done`;
        const late = await sh(sandbox, line, { timeoutMs: 500 });
        expect(late).toMatchObject({ exitCode: 124, timedOut: true });
        expect(late.stdout.text).toBe('begun\nleaving\n');
      });
    });

    it('is refused with a reason when no shell could take it', async () => {
      await withSandbox(executor, async (sandbox) => {
        const refused = { code: 'TOOL_INPUT_INVALID' };
        await expect(sh(sandbox, 'x'.repeat(131_072))).rejects.toMatchObject(refused);
        await expect(sh(sandbox, 'echo \0')).rejects.toMatchObject(refused);
        await expect(sh(sandbox, ':', { env: { 'A=B': '' } })).rejects.toMatchObject(refused);
        await expect(sh(sandbox, ':', { env: { A: 'y'.repeat(131_072) } })).rejects.toMatchObject(
          refused,
        );
        expect(await out(sandbox, 'echo still here')).toBe('still here\n');
      });
    });

    it('keeps stdout and stderr apart and joins characters cut between writes', async () => {
      await withSandbox(executor, async (sandbox) => {
        const pieces: string[] = [];
        const line = `printf '\\360\\237'; sleep .1; echo err >&2; sleep .1; printf '\\232\\200'`;
        const result = await sh(
          sandbox,
          line,
          {},
          {
            signal: never,
            onOutput: (stream, text) => pieces.push(`${stream}:${text}`),
          },
        );
        expect(result.stdout).toEqual({ text: '🚀', totalBytes: 4, droppedBytes: 0 });
        expect(result.stderr).toEqual({ text: 'err\n', totalBytes: 4, droppedBytes: 0 });
        expect(pieces).toEqual(['stderr:err\n', 'stdout:🚀']);
        const control = await out(
          sandbox,
          `printf '\\001\\000\\000\\000\\000\\000\\000\\005hello'`,
        );
        expect(control).toBe('\u0001\0\0\0\0\0\0\u0005hello');
      });
    });

    it('returns 200 KiB of two-byte characters without a replacement character', async () => {
      await withSandbox(executor, async (sandbox) => {
        const line = `head -c 102400 /dev/zero | sed 's/\\x0/é/g'`;
        const whole = await sh(sandbox, line, { outputLimitBytes: 300_000 });
        expect(whole.stdout).toEqual({
          text: 'é'.repeat(102_400),
          totalBytes: 204_800,
          droppedBytes: 0,
        });
        const cut = await sh(sandbox, line, { outputLimitBytes: 1001 });
        expect(cut.stdout.text).toMatch(
          /^é{250}\n\[\.\.\. 203800 bytes left out \.\.\.\]\né{250}$/,
        );
        expect(cut.stdout.droppedBytes).toBe(203_800);
      });
    });

    it('reads its standard input to the end, and an end of file when there is none', async () => {
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, 'cat', { stdin: 'a🚀\nb' })).toBe('a🚀\nb');
        expect(await out(sandbox, 'cat; echo end')).toBe('end\n');
        const big = 'é0123456789\n'.repeat(100_000);
        expect(await out(sandbox, 'wc -c', { stdin: big })).toBe('1300000\n');
        expect(await out(sandbox, 'echo unread', { stdin: big })).toBe('unread\n');
        expect(await out(sandbox, 'echo unread', { stdin: big.slice(0, 20_000) })).toBe('unread\n');
      });
    });

    it('sees exactly the variables it was given', async () => {
      await withSandbox(executor, async (sandbox) => {
        const odd = `"'$HOME\`\\ \n\t=é🚀;&|`;
        const env = { ODD: odd, EMPTY: '', 'with-dash': 'x', HOME: '/nowhere' };
        const text = await out(sandbox, 'env -0', { env });
        const seen = new Map(text.split('\0').map((entry) => [entry.split('=')[0], entry]));
        expect(seen.get('ODD')).toBe(`ODD=${odd}`);
        expect(seen.get('EMPTY')).toBe('EMPTY=');
        expect(seen.get('with-dash')).toBe('with-dash=x');
        expect(seen.get('HOME')).toBe('HOME=/nowhere');
        const hijack = { BASH_ENV: '/proc/self/environ', 'BASH_FUNC_kill%%': '() { echo no; }' };
        expect(await out(sandbox, 'echo ok', { env: { ...hijack, BASH_ENV: '' } })).toBe('ok\n');
        expect(await out(sandbox, 'touch "$HOME/x" && echo ok')).toBe('ok\n');
      });
    });

    it('sees nothing of the worker’s environment', async () => {
      process.env['SKILLMILL_CANARY'] = 'canary-4711';
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, 'env')).not.toContain('canary-4711');
      });
    });

    it('runs in the folder that was asked for; a missing one is an exit code', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(sandbox, 'mkdir -p "a b/-c"');
        const cwd = 'work/a b/-c';
        expect(await out(sandbox, 'pwd', { cwd })).toBe(`${sandbox.workspaceDir}/${cwd}\n`);
        expect(await out(sandbox, 'pwd', { cwd: '' })).toBe(`${sandbox.workspaceDir}\n`);
        const missing = await sh(sandbox, 'echo no', { cwd: 'work/none' });
        expect(missing.exitCode).toBe(126);
        expect(missing.stderr.text).toContain('work/none');
      });
    });

    it('leaves files for the next one', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(sandbox, 'echo kept > f');
        expect(await out(sandbox, 'cat f')).toBe('kept\n');
      });
    });
  });

  describe('the end of a command', () => {
    it('comes although a background process holds its output, and leaves no process', async () => {
      await withSandbox(executor, async (sandbox) => {
        // The FIFO says when the second one has left its process group.
        const line = `mkfifo p; sleep ${mark}811 & setsid bash -c 'echo > p; exec sleep ${mark}812' & (nohup sleep ${mark}813 &); read < p; echo done; exit 3`;
        const result = await sh(sandbox, line);
        expect(result).toMatchObject({ exitCode: 3, timedOut: false });
        expect(result.stdout.text).toBe('done\n');
        expect(await processesWith(`sleep ${mark}81`)).toEqual([]);
      });
    });

    it('comes by the timeout for everything it started, with what was printed so far', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(sandbox, 'echo kept > f');
        const line = `echo begun; trap '' TERM; sleep ${mark}821 & setsid sleep ${mark}822 & (nohup sleep ${mark}823 >/dev/null 2>&1 &); while :; do :; done`;
        const result = await sh(sandbox, line, { timeoutMs: 2000 });
        expect(result).toMatchObject({ exitCode: 124, timedOut: true, outOfMemory: false });
        expect(result.stdout.text).toBe('begun\n');
        expect(await processesWith(`sleep ${mark}82`)).toEqual([]);
        expect(await processesWith('echo begun; trap')).toEqual([]);
        expect(await out(sandbox, 'cat f')).toBe('kept\n');
      });
    });

    it('comes by the abort of its signal, which is what run rejects with', async () => {
      await withSandbox(executor, async (sandbox) => {
        const reason = new Error('enough');
        const hooks = abortOnOutput('begun', reason);
        await expect(sh(sandbox, `echo begun; sleep ${mark}831`, {}, hooks)).rejects.toBe(reason);
        expect(await processesWith(`sleep ${mark}831`)).toEqual([]);
        await expect(sh(sandbox, 'echo begun', {}, hooks)).rejects.toBe(reason);
        expect(await out(sandbox, 'echo next')).toBe('next\n');
      });
    });

    it('comes when the listener of its output fails', async () => {
      await withSandbox(executor, async (sandbox) => {
        const hooks = onceOutput('begun', () => {
          throw new Error('listener');
        });
        const line = `echo begun; sleep ${mark}851`;
        await expect(sh(sandbox, line, {}, hooks)).rejects.toThrow('listener');
        expect(await processesWith(`sleep ${mark}851`)).toEqual([]);
        expect(await out(sandbox, 'echo next')).toBe('next\n');
      });
    });

    it('comes by the closing of its sandbox, which may be closed again', async () => {
      const sandbox = await executor.open(job, never);
      let closing: Promise<void> | undefined;
      const hooks = onceOutput('begun', () => {
        closing = sandbox.close();
      });
      await expect(sh(sandbox, `echo begun; sleep ${mark}841`, {}, hooks)).rejects.toMatchObject({
        code: 'SANDBOX_UNAVAILABLE',
        details: { lost: true },
      });
      await closing;
      await sandbox.close();
      expect(await processesWith(`sleep ${mark}841`)).toEqual([]);
      await expect(sandbox.list(['out'], 1)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    });
  });
}
