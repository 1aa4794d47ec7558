import { afterEach, describe, expect, it } from 'vitest';
import { docker } from '../support/docker.js';
import { createDockerExecutor } from '../../src/worker/executor/docker/docker-executor.js';
import { sandboxScripts } from '../../src/worker/executor/docker/sandbox-scripts.js';
import { file, out, sh, withSandbox, type ExecutorHarness } from './executor-harness.js';

const lost = { code: 'SANDBOX_UNAVAILABLE', details: { lost: true } };

/** What holds for containers only: the isolation and the limits. */
export function dockerSuite(
  harness: ExecutorHarness,
  options: Parameters<typeof createDockerExecutor>[0],
): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('a command in a container', () => {
    it('can open its streams by name, and leaves them as it found them', async () => {
      await withSandbox(executor, async (sandbox) => {
        const both = await sh(sandbox, 'echo one >/dev/stdout; echo two | tee /dev/stderr');
        expect([both.stdout.text, both.stderr.text]).toEqual(['one\ntwo\n', 'two\n']);
        expect(await out(sandbox, 'cat /dev/stdin', { stdin: 'in' })).toBe('in');
        // What a program like node does to a pipe that it writes to.
        const flags = 'import fcntl, os; fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)';
        expect((await sh(sandbox, `python3 -c '${flags}'; echo x`)).exitCode).toBe(0);
        const much = await sh(sandbox, 'head -c 3000000 /dev/zero; echo last >&2');
        expect([much.stdout.totalBytes, much.stderr.text]).toEqual([3_000_000, 'last\n']);
      });
    });

    it('sees variables that are named as those of what starts it', async () => {
      const names =
        Object.values(sandboxScripts)
          .join('\n')
          .match(/\b[a-z]+(_[a-z]+)*\b/g) ?? [];
      const env = Object.fromEntries(names.map((name) => [name, `/value of ${name}`]));
      expect(names).toContain('odd');
      await withSandbox(executor, async (sandbox) => {
        const seen = (await out(sandbox, 'env -0', { env })).split('\0');
        const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
        expect(seen).toEqual(expect.arrayContaining(given));
        expect(await out(sandbox, 'echo ran', { env: { odd: '/bin/true' } })).toBe('ran\n');
      });
    });

    it('says that it left nothing, which spares a listing', async () => {
      await withSandbox(executor, async (sandbox) => {
        expect((await sh(sandbox, 'echo x')).leftNothing).toBe(true);
        expect((await sh(sandbox, 'touch ../out/.x')).leftNothing).toBe(false);
        expect((await sh(sandbox, 'rm ../out/.x; chmod 0 ../out')).leftNothing).toBe(false);
        expect((await sh(sandbox, 'chmod 755 ../out')).leftNothing).toBe(true);
      });
    });
  });

  describe('isolation', () => {
    it('is an ordinary user without capabilities or new privileges', async () => {
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, 'id -u; id -g; id -G; hostname')).toBe(
          '1000\n1000\n1000\nsandbox\n',
        );
        const status = await out(sandbox, 'cat /proc/self/status');
        for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
          expect(status).toMatch(new RegExp(`^${set}:\\s+0{16}$`, 'm'));
        }
        expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
        expect(status).toMatch(/^Seccomp:\s+2$/m);
      });
    });

    it('has no network', async () => {
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, 'ls /sys/class/net')).toBe('lo\n');
        expect((await sh(sandbox, 'exec 3<>/dev/tcp/1.1.1.1/53')).exitCode).not.toBe(0);
      });
    });

    it('has a root that nobody writes', async () => {
      await withSandbox(executor, async (sandbox) => {
        for (const path of [
          '/x',
          '/etc/x',
          '/usr/x',
          '/workspace/x',
          '/workspace/skills/x',
          '/dev/x',
        ]) {
          expect((await sh(sandbox, `touch ${path}`)).exitCode, path).not.toBe(0);
        }
        expect((await sh(sandbox, 'mv /workspace/skills /workspace/work/s')).exitCode).not.toBe(0);
        expect((await sh(sandbox, 'echo 1 > /proc/sys/kernel/pid_max')).exitCode).not.toBe(0);
        expect(await out(sandbox, 'touch /tmp/x /dev/shm/x && echo ok')).toBe('ok\n');
      });
    });

    it('keeps skills from being changed by commands', async () => {
      await withSandbox(executor, async (sandbox) => {
        await sandbox.put(
          [
            { path: 'skills/s', kind: 'directory', mode: 0o777 },
            file('skills/s/SKILL.md', 'mine', 0o644),
            file('skills/t/SKILL.md', 'mine', 0o644),
          ],
          'keeper',
        );
        for (const line of [
          'echo x > t/SKILL.md',
          'rm t/SKILL.md',
          'mv t u',
          'chmod 777 t',
          'touch t/x',
          'echo x >> s/SKILL.md',
        ]) {
          expect((await sh(sandbox, line, { cwd: 'skills' })).exitCode, line).not.toBe(0);
        }
        // In a folder that commands may write they may plant links; the keeper follows none of them.
        await out(
          sandbox,
          'mkdir s/.venv; ln -s ../../t s/.venv/hop; ln -s ../../t/SKILL.md s/.venv/f',
          { cwd: 'skills' },
        );
        const planted = [file('skills/s/.venv/hop/SKILL.md', 'x'), file('skills/s/.venv/f', 'x')];
        await sandbox.put(planted, 'keeper').catch(() => undefined);
        expect(await out(sandbox, 'cat t/SKILL.md', { cwd: 'skills' })).toBe('mine');
      });
    });

    it('tells the keeper from a failed sandbox when a command has planted something', async () => {
      await withSandbox(executor, async (sandbox) => {
        const venv = { path: 'skills/s/.venv', kind: 'directory', mode: 0o777 } as const;
        await sandbox.put([venv], 'keeper');
        await out(sandbox, 'mkdir -m 000 shut; mkdir own; ln -s / own/hop', { cwd: venv.path });
        for (const path of ['skills/s/.venv/shut/f', 'skills/s/.venv/own/hop/f']) {
          await expect(sandbox.put([file(path, 'x')], 'keeper'), path).rejects.toMatchObject({
            code: 'TOOL_FAILED',
          });
        }
        expect(await out(sandbox, 'echo goes on')).toBe('goes on\n');
      });
    });

    it('keeps the image’s PATH', async () => {
      await withSandbox(executor, async (sandbox) => {
        const image = await docker.getImage(options.image).inspect();
        const path = image.Config.Env.find((entry) => entry.startsWith('PATH='));
        expect(await out(sandbox, 'echo "PATH=$PATH"')).toBe(`${path ?? ''}\n`);
        expect(await out(sandbox, 'echo "$PATH $FOO"', { env: { PATH: '/opt', FOO: 'bar' } })).toBe(
          '/opt bar\n',
        );
      });
    });
  });

  describe('limits', () => {
    it('end a command that takes too much memory, say so, and the next one runs', async () => {
      await withSandbox(executor, async (sandbox) => {
        await out(sandbox, 'echo kept > f');
        const bomb = await sh(sandbox, 'echo begun; tail /dev/zero');
        expect(bomb).toMatchObject({ exitCode: 137, outOfMemory: true, timedOut: false });
        expect(bomb.stdout.text).toBe('begun\n');
        const hidden = await sh(sandbox, 'tail /dev/zero; echo survived');
        expect(hidden).toMatchObject({ exitCode: 0, outOfMemory: true });
        expect(await sh(sandbox, 'cat f')).toMatchObject({
          exitCode: 0,
          outOfMemory: false,
          stdout: { text: 'kept\n' },
        });
      });
    });

    it('bound the disk without ending the sandbox', async () => {
      await withSandbox(executor, async (sandbox) => {
        const full = await sh(
          sandbox,
          'for i in 1 2 3 4; do head -c 40000000 /dev/zero > f$i || exit 1; done',
        );
        expect(full).toMatchObject({ exitCode: 1, outOfMemory: false });
        expect(full.stderr.text).toContain('No space left on device');
        await expect(
          sandbox.put([file('work/g', Buffer.alloc(1_000_000))], 'command'),
        ).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
        await out(sandbox, 'rm f4'); // now one that begins to fit, and fails in the middle of a block
        await expect(
          sandbox.put([file('work/g', Buffer.alloc(60_000_000))], 'command'),
        ).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
        expect((await sh(sandbox, 'head -c 70000000 /dev/zero > /tmp/f')).exitCode).not.toBe(0);
        expect(await out(sandbox, 'rm -f f* && echo again > f && cat f')).toBe('again\n');
      });
    });

    it('bound a fork bomb, which ends by its timeout', async () => {
      await withSandbox(executor, async (sandbox) => {
        const bomb = await sh(sandbox, ':(){ :|:& };:; sleep 30871', { timeoutMs: 3000 });
        expect(bomb).toMatchObject({ timedOut: true, exitCode: 124 });
        const next = await out(sandbox, 'echo ok').catch((thrown: unknown) => thrown);
        if (next !== 'ok\n') expect(next).toMatchObject(lost);
      });
      expect(await withSandbox(executor, (sandbox) => out(sandbox, 'echo ok'))).toBe('ok\n');
    });

    it('leave no zombies', async () => {
      await withSandbox(executor, async (sandbox) => {
        const line = `for i in $(seq 150); do (sleep .1 &) ; done; sleep 2; ps -eo stat | grep -c '^Z'`;
        expect((await sh(sandbox, line)).stdout.text).toBe('0\n');
      });
    });

    it('are refused when files could fill the memory', () => {
      const limits = { ...options.limits, memoryBytes: options.limits.diskBytes };
      expect(() => createDockerExecutor({ ...options, limits })).toThrow(/memory must be at least/);
    });
  });

  describe('a command that fights its end', () => {
    it('does not outlive its run by killing its parent, which is the supervisor', async () => {
      await withSandbox(executor, async (sandbox) => {
        const line = `(exec >/dev/null 2>&1; kill -KILL $PPID; sleep 30861) & disown; kill -KILL $PPID; exec >/dev/null 2>&1; sleep 30862`;
        const result = await sh(sandbox, line, { timeoutMs: 1000 });
        expect(result).toMatchObject({ exitCode: 124, timedOut: true });
        expect(result.stderr.text).toContain('not permitted');
        expect(await out(sandbox, `ps -eo args | grep -c '[s]leep 3086' || true`)).toBe('0\n');
      });
    });
  });
}
