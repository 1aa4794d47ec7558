import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Reply } from '../../../examples/scripted-model.js';
import { streamQuirks } from '../../support/quirks.js';
import { whole, wholeQuirks } from '../../support/whole-quirks.js';
import { callOf, inOrder, openTurnsDesk, type TurnsDesk } from '../../support/turns-desk.js';

let desk: TurnsDesk;
beforeAll(async () => {
  desk = await openTurnsDesk({ SKILLMILL_MODEL_IDLE_TIMEOUT: '1', SKILLMILL_CONCURRENCY: '8' });
});
afterAll(() => desk.close());

const odd: readonly Reply[] = [
  ...[...streamQuirks, ...wholeQuirks].map(({ reply }) => reply),
  callOf('skill_list'),
  callOf('no_such_tool', { a: 1 }),
  callOf('skill_load', '{"skill_name": '),
  callOf('skill_run', { skill: 'file-tools', command: 'exit 3' }),
  whole({ content: 'cut' }, 'length'),
  whole({ content: 'filtered' }, 'content_filter'),
  { status: 400, body: '{"error":{"message":"no"}}' },
  { status: 400, body: '{"error":{"message":"context_length_exceeded"}}' },
  { body: '<html>' },
  { body: '{}' },
];

it('whatever comes, a turn ends within its limits and leaves a history that can be gone on with [model-quirks]', async () => {
  let session = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...odd), { minLength: 1, maxLength: 6 }),
      async (replies) => {
        session += 1;
        const sessionId = `any-${session}`;
        const limits = { maxModelCalls: 6, maxToolCalls: 4, turnTimeoutMs: 60_000 };
        const { result } = await desk.turn(inOrder(replies), { sessionId, limits });
        expect(['completed', 'failed']).toContain(result.status);
        expect(result.error?.code).not.toBe('INTERNAL');
        expect(result.usage.toolCalls).toBeLessThanOrEqual(4);
        const next = await desk.turn([{ text: 'well' }], { sessionId });
        expect(next.result).toMatchObject({ status: 'completed', output: 'well' });
        expect(desk.world.model.faults).toEqual([]);
      },
    ),
    { numRuns: Number(process.env['MODEL_RUNS'] ?? 12) },
  );
}, 280_000);
