import { once, EventEmitter } from 'node:events';
import { z } from 'zod';
import { defineTool } from '../../dist/worker/toolbox/index.js';

const parameters = z.object({});
const door = new EventEmitter();
const there = new Set();

/** Ends only when the other one has been called as well: two such calls end only when they run together. */
const meeting = (/** @type {string} */ name, /** @type {string} */ other) =>
  defineTool({
    name,
    description: `Waits for ${other}`,
    parameters,
    async execute(_, { signal }) {
      there.add(name);
      door.emit(name);
      if (!there.has(other)) await once(door, other, { signal });
      return { met: other };
    },
  });

export const tools = [
  meeting('meet_left', 'meet_right'),
  meeting('meet_right', 'meet_left'),
  defineTool({
    name: 'deaf',
    description: 'Never ends, whatever its signal says',
    parameters,
    execute: () => new Promise(() => {}),
  }),
  defineTool({
    name: 'throws',
    description: 'Fails without a word',
    parameters,
    execute() {
      throw new Error('');
    },
  }),
];
