import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../../dist/worker/toolbox/index.js';

const ledgerPath = process.env['CHAOS_LEDGER'] ?? '';

/** @param {Record<string, unknown>} line */
const write = (line) => appendFile(ledgerPath, `${JSON.stringify({ ...line, at: Date.now() })}\n`);

/** Leaves its traces outside Redis: a line when it begins, and one when it answers (`end`) or is told to stop (`stopped`). */
export const ledger = defineTool({
  name: 'ledger',
  description: 'Writes into the ledger',
  parameters: z.object({ call: z.int(), takesMs: z.int() }),
  async execute({ call, takesMs }, { callKey, turnId, sessionId, signal }) {
    const run = randomUUID();
    const line = { run, callKey, turnId, sessionId, call, pid: process.pid };
    await write({ kind: 'start', ...line });
    try {
      await sleep(takesMs, undefined, { signal });
    } catch (error) {
      await write({ kind: 'stopped', ...line });
      throw error;
    }
    await write({ kind: 'end', ...line });
    return { run, callKey, call };
  },
});
