import { appendFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../dist/worker/toolbox/index.js';

const book = z.object({ book: z.string(), line: z.string() });

/** @param {{ book: string, line: string }} args @param {string} callKey */
const write = (args, callKey) => appendFile(args.book, `${args.line} ${callKey}\n`);

/** Tools whose every run leaves a line where no worker's death takes it away. */
export const tools = [
  defineTool({
    name: 'write_line',
    description: 'Writes a line into a book',
    parameters: book,
    async execute(args, { callKey }) {
      await write(args, callKey);
      return { written: args.line };
    },
  }),
  defineTool({
    name: 'write_slowly',
    description: 'Writes a line into a book, then waits until a file is there',
    parameters: book.extend({ gate: z.string() }),
    async execute(args, { callKey, signal }) {
      await write(args, callKey);
      while (!(await stat(args.gate).catch(() => undefined))) {
        await sleep(50, undefined, { signal });
      }
      return { written: args.line };
    },
  }),
];
