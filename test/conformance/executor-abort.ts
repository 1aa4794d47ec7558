import { afterEach, describe, expect, it } from 'vitest';
import type { OpenSandbox, WorkspaceEntry } from '../../src/worker/executor/executor.js';
import {
  file,
  job,
  onceOutput,
  out,
  readAll,
  sh,
  type ExecutorHarness,
} from './executor-harness.js';

const BIG_BYTES = 40_000_000;

/** What the signal does that a sandbox was opened with, in every sandbox. */
export function abortSuite(harness: ExecutorHarness): void {
  const executor = harness.makeExecutor();

  // What an aborted opening made may be removed in the background.
  afterEach(() => expect.poll(() => harness.leftovers(), { timeout: 30_000 }).toEqual([]));

  /** A sandbox whose signal the test may abort; afterwards only commands run in it, and it can be closed. */
  async function withAbortable(
    use: (sandbox: OpenSandbox, abort: () => void, reason: Error) => Promise<void>,
  ): Promise<void> {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const sandbox = await executor.open(job, controller.signal);
    try {
      await use(sandbox, () => controller.abort(reason), reason);
      await expect(sandbox.put([file('work/f', '')], 'command')).rejects.toBe(reason);
      await expect(sandbox.list(['out'], 1)).rejects.toBe(reason);
      await expect(readAll(sandbox, ['out/f'])).rejects.toBe(reason);
      expect(await out(sandbox, 'echo runs')).toBe('runs\n');
    } finally {
      await sandbox.close();
    }
  }

  describe('the signal of a sandbox, when it aborts,', () => {
    it('keeps it from being opened, and removes what was made so far', async () => {
      const reason = new Error('changed my mind');
      await expect(executor.open(job, AbortSignal.abort(reason))).rejects.toBe(reason);
      const controller = new AbortController();
      const opening = executor.open(job, controller.signal);
      setImmediate(() => controller.abort(reason));
      await expect(opening).rejects.toBe(reason);
    });

    it('ends a put in the middle of its files', async () => {
      await withAbortable(async (sandbox, abort, reason) => {
        const second: WorkspaceEntry = {
          ...file('work/second', ''),
          get content() {
            abort(); // it is asked for when the first one is through
            return Buffer.alloc(BIG_BYTES);
          },
        };
        const entries = [file('work/first', Buffer.alloc(BIG_BYTES)), second];
        await expect(sandbox.put(entries, 'command')).rejects.toBe(reason);
      });
    });

    it('ends a put of one large file', async () => {
      await withAbortable(async (sandbox, abort, reason) => {
        const putting = sandbox.put([file('work/f', Buffer.alloc(2 * BIG_BYTES))], 'command');
        setImmediate(abort);
        await expect(putting).rejects.toBe(reason);
      });
    });

    it('ends a list', async () => {
      await withAbortable(async (sandbox, abort, reason) => {
        await out(sandbox, 'seq -f f%.0f 20000 | xargs touch', { cwd: 'out' });
        const listing = sandbox.list(['out'], 20_000);
        setImmediate(abort);
        await expect(listing).rejects.toBe(reason);
      });
    });

    it('ends a read in the middle of a file', async () => {
      await withAbortable(async (sandbox, abort, reason) => {
        await out(sandbox, `head -c ${BIG_BYTES} /dev/zero > f`, { cwd: 'out' });
        const reading = async () => {
          for await (const item of sandbox.read(['out/f', 'out/none'])) {
            if ('error' in item) throw new Error(item.error);
            for await (const chunk of item.content) if (chunk) abort();
          }
        };
        await expect(reading()).rejects.toBe(reason);
      });
    });

    it('ends a read between two files, the first of them unread', async () => {
      await withAbortable(async (sandbox, abort, reason) => {
        await out(sandbox, `head -c ${BIG_BYTES} /dev/zero > f; cp f g`, { cwd: 'out' });
        const reading = async () => {
          for await (const item of sandbox.read(['out/f', 'out/g'])) {
            expect(item.path).toBe('out/f');
            abort();
          }
        };
        await expect(reading()).rejects.toBe(reason);
      });
    });

    it('ends what waits for its turn, but not the command that runs', async () => {
      await withAbortable(async (sandbox, abort, reason) => {
        const enough = new Error('enough');
        const stop = new AbortController();
        const { onOutput } = onceOutput('begun', abort);
        const running = sh(sandbox, 'echo begun; sleep 60', {}, { signal: stop.signal, onOutput });
        const waiting = [
          sandbox.put([file('work/f', '')], 'command'),
          sandbox.list(['out'], 1),
          readAll(sandbox, ['out/f']),
        ];
        for (const each of await Promise.allSettled(waiting)) {
          expect(each).toEqual({ status: 'rejected', reason });
        }
        stop.abort(enough);
        await expect(running).rejects.toBe(enough);
      });
    });
  });
}
