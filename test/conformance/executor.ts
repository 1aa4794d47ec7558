import { afterEach, describe, expect, it } from 'vitest';
import { abortSuite } from './executor-abort.js';
import { commandSuite } from './executor-commands.js';
import { fileSuite } from './executor-files.js';
import { job, never, out, type ExecutorHarness } from './executor-harness.js';
import { makeDirSuite } from './executor-make-dir.js';
import { putSuite } from './executor-put.js';
import { outputSuite } from './executor-output.js';
import { snapshotSuite } from './executor-snapshot.js';

/** The contract of `Executor`: one suite for every implementation. */
export function executorSuite(name: string, harness: ExecutorHarness): void {
  describe(name, () => {
    commandSuite(harness);
    makeDirSuite(harness);
    outputSuite(harness);
    putSuite(harness);
    fileSuite(harness);
    snapshotSuite(harness);
    abortSuite(harness);
    sweepSuite(harness);
  });
}

function sweepSuite(harness: ExecutorHarness): void {
  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('a sweep', () => {
    it('removes what dead workers left, never a living one’s or its own', async () => {
      const [self, dead, alive] = ['w-self', 'w.dead-1', 'w-alive'].map((owner) =>
        harness.makeExecutor(owner),
      );
      if (!self || !dead || !alive) throw new Error('unreachable');
      const [mine, , living] = await Promise.all(
        [self, dead, alive].map((each) => each.open(job, never)),
      );
      await dead.open(job, never);
      const asked: string[] = [];
      const isAlive = (owner: string) => {
        asked.push(owner);
        return Promise.resolve(owner === 'w-alive');
      };
      expect(await self.sweep(isAlive)).toBe(2);
      expect(asked.sort()).toEqual(['w-alive', 'w.dead-1']);
      for (const sandbox of [mine, living]) {
        if (!sandbox) throw new Error('unreachable');
        expect(await out(sandbox, 'echo lives')).toBe('lives\n');
        await sandbox.close();
      }
      expect(await self.sweep(isAlive)).toBe(0);
    });

    it('removes what is its own but not open, never what it is opening', async () => {
      const self = harness.makeExecutor('w-self');
      const mine = await self.open(job, never);
      await harness.makeExecutor('w-self').open(job, never); // left by a namesake
      expect(await harness.leftovers()).toHaveLength(2);
      const isAlive = () => Promise.resolve(true);
      expect(await self.sweep(isAlive)).toBe(1);
      const state = { isOpen: false };
      const opening = self.open(job, never).finally(() => (state.isOpen = true));
      while (!state.isOpen) expect(await self.sweep(isAlive)).toBe(0);
      for (const sandbox of [mine, await opening]) {
        expect(await out(sandbox, 'echo lives')).toBe('lives\n');
        await sandbox.close();
      }
    });
  });
}
