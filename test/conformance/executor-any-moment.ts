import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/worker/executor/executor.js';
import { file, job, out, sh, withSandbox, type ExecutorHarness } from './executor-harness.js';

const lines = [
  'sleep 20',
  'for n in 1 2 3 4 5 6 7 8; do (sleep 20 & sleep 20) & done; wait',
  'cat | sort | wc -c',
  'setsid sleep 20 & sleep 20',
];
const inputs = ['', 'x'.repeat(10), 'x'.repeat(3_000_000)];
const COMMANDS_A_SANDBOX = 20;
/** Aborts come within this time: before, while and after a request is begun. */
const SPAN_MS = 16;

/** Aborts at moments spread over a request's beginning: what is aborted ends, and the sandbox goes on. */
export function anyMomentSuite(harness: ExecutorHarness, sandboxes: number): void {
  const executor = harness.makeExecutor();

  describe('an abort at any moment', () => {
    it(`ends a put, ${sandboxes} times, and the next command runs`, async () => {
      for (let round = 0; round < sandboxes; round += 1) {
        const controller = new AbortController();
        const reason = new Error('cancelled');
        const sandbox = await executor.open(job, controller.signal);
        try {
          const putting = sandbox.put([file('work/f', Buffer.alloc(50_000_000))], 'command');
          setTimeout(() => controller.abort(reason), (round * SPAN_MS) / sandboxes);
          await expect(putting).rejects.toBe(reason);
          expect(await out(sandbox, 'echo runs')).toBe('runs\n');
        } finally {
          await sandbox.close();
        }
      }
    });

    it(`ends a command, ${sandboxes * COMMANDS_A_SANDBOX} times, and the next one runs`, async () => {
      for (let round = 0; round < sandboxes; round += 1) {
        await withSandbox(executor, async (sandbox) => {
          for (let at = 0; at < COMMANDS_A_SANDBOX; at += 1) {
            await abortOne(sandbox, round + at, ((round + at * 7) % 31) * (SPAN_MS / 31));
          }
          expect(await out(sandbox, 'cat', { stdin: 'runs' })).toBe('runs');
        });
      }
    });
  });
}

async function abortOne(sandbox: Sandbox, number: number, delayMs: number): Promise<void> {
  const controller = new AbortController();
  const reason = new Error('cancelled');
  const line = lines[number % lines.length] ?? '';
  const stdin = inputs[number % inputs.length] ?? '';
  const timer = setTimeout(() => controller.abort(reason), delayMs);
  const hooks = { signal: controller.signal, onOutput: () => undefined };
  const ended = await sh(sandbox, line, { stdin }, hooks).then(
    () => 'ended',
    (thrown: unknown) => thrown,
  );
  clearTimeout(timer);
  // A short one may end before its abort.
  expect([reason, 'ended']).toContain(ended);
}
