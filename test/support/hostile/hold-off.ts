import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineAnswers } from '../docker.js';
import { eventually } from '../eventually.js';
import { expectCase, expectTurn } from './expect-case.js';
import { processesIn } from './host-look.js';
import { hostileCases } from './hostile-cases.js';
import type { Scale } from './hostile-case.js';
import {
  growthLimitBytes,
  openHostileSuite,
  settledBytes,
  type HostileSuite,
} from './hostile-suite.js';
import { planTurns } from './hostile-turn.js';

const unseen = {
  containers: [],
  described: [],
  traces: ['the host was not looked at'],
  processes: 0,
};
const isEngine = await engineAnswers();

/** Runs every case, as large as asked for; then nothing may be left. */
export function holdOff(scale: Scale, cite: (sentence: string) => string): void {
  const cases = hostileCases(scale);
  const { alone } = scale;
  const all = planTurns(cases);
  const shared = all.filter((turn) => turn.cases.length > 1).slice(0, scale.sharedJobs);
  const apart = all.filter(
    (turn) => turn.cases.length === 1 && (alone === undefined || alone.includes(turn.id)),
  );
  const turns = [...apart, ...shared];

  describe.skipIf(!isEngine)('commands that attack', () => {
    let suite: HostileSuite;
    beforeAll(async () => {
      suite = await openHostileSuite(turns);
    });
    afterAll(() => suite.close());

    describe.each(turns)('in the turn of $id', (turn) => {
      it.each(turn.cases)(cite('$id'), async (one) => {
        expectCase(turn, one, await suite.resultOf(turn));
      });

      it(cite('end in an answer and leave nothing on the host’s disk'), async () => {
        const result = await suite.resultOf(turn);
        expectTurn(turn, result, suite.seen.get(turn.id) ?? unseen);
      });
    });

    it(cite('leave no container and no process'), async () => {
      await suite.world.noSandboxLeft();
      const containers = [...suite.seen.values()].flatMap((look) => look.containers);
      expect(containers.length).toBeGreaterThan(turns.length / 2);
      expect(await processesIn(containers)).toEqual([]);
    });

    it(cite('leave the worker as it was: its memory, its log, its temporary files'), async () => {
      const { worker, world, memoryBefore } = suite;
      await eventually('memory back where it was', async () => {
        const grown = (await settledBytes(worker)) - memoryBefore;
        if (grown > growthLimitBytes) throw new Error(`grown by ${grown} bytes`);
        console.log(`the worker grew by ${Math.round(grown / 1024 / 1024)} MiB`);
        return true;
      });
      expect(world.model.faults).toEqual([]);
      // A line for the end of each turn and for each sandbox that was lost: nothing of what commands print.
      expect(worker.log().length).toBeLessThan(cases.length * 1000);
      expect(worker.log()).not.toMatch(/a line of output|"level":"?(error|50)/);
      expect(await worker.end()).toBe(0);
      expect(await suite.leftFiles()).toEqual([]);
    });
  });
}
