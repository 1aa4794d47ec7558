import { afterEach, describe, expect, it } from 'vitest';
import { never, sh, withSandbox, type ExecutorHarness } from './executor-harness.js';

const MIB = 1024 * 1024;

/** What holds for endless and odd output in every sandbox. */
export function outputSuite(harness: ExecutorHarness): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('endless output', () => {
    it('is cut at the limit, with the true exit code and without filling the worker’s memory', async () => {
      await withSandbox(executor, async (sandbox) => {
        let seen = 0;
        let peak = 0;
        const before = process.memoryUsage.rss();
        const hooks = {
          signal: never,
          onOutput: (_stream: string, text: string) => {
            seen += text.length;
            if (seen % 64 === 0) peak = Math.max(peak, process.memoryUsage.rss());
          },
        };
        const lines = [
          'yes x | head -c 300000000; exit 7',
          `head -c 200000000 /dev/zero | tr '\\0' A >&2; exit 7`,
        ];
        for (const line of lines) {
          const result = await sh(sandbox, line, { outputLimitBytes: 4096 }, hooks);
          expect(result.exitCode).toBe(7);
          const kept = line.endsWith('>&2; exit 7') ? result.stderr : result.stdout;
          expect(kept.totalBytes - kept.droppedBytes).toBe(4096);
          expect(Buffer.byteLength(kept.text)).toBeLessThan(4096 + 64);
        }
        expect(seen).toBe(500_000_000);
        expect((Math.max(peak, process.memoryUsage.rss()) - before) / MIB).toBeLessThan(128);
      });
    });

    it('ends by the timeout', async () => {
      await withSandbox(executor, async (sandbox) => {
        const result = await sh(sandbox, 'yes', { timeoutMs: 1500 });
        expect(result).toMatchObject({ exitCode: 124, timedOut: true });
        expect(result.stdout.text).toMatch(
          /^(y\n)+\n\[\.\.\. \d+ bytes left out \.\.\.\]\n(y\n)+$/,
        );
      });
    });

    it('may be many very short lines', async () => {
      await withSandbox(executor, async (sandbox) => {
        const result = await sh(sandbox, 'for ((i = 0; i < 10000; i++)); do echo $i; done');
        expect(result.stdout.totalBytes).toBe(48_890);
        expect(result.stdout.text.startsWith('0\n1\n')).toBe(true);
        expect(result.stdout.text.endsWith('\n9999\n')).toBe(true);
      });
    });

    it('that is no UTF-8 becomes valid text', async () => {
      await withSandbox(executor, async (sandbox) => {
        const result = await sh(sandbox, `printf 'a\\377b\\303'`);
        expect(result.stdout).toEqual({ text: 'a\uFFFDb\uFFFD', totalBytes: 4, droppedBytes: 0 });
      });
    });
  });
}
