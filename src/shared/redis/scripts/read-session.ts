import { z } from 'zod';
import { defineScript } from '../script.js';

const named = z
  .array(z.string())
  .transform((flat) =>
    Object.fromEntries(
      flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])),
    ),
  );

/**
 * Reads what is kept of a session, as of one moment and in one command.
 *
 * KEYS  messages, skill state, artifacts, workspace
 * Reply messages (JSON each), names and values of the skill state alternating, artifacts (JSON each), workspace version (JSON) or nil
 */
export const readSessionScript = defineScript(
  `
return { redis.call('LRANGE', KEYS[1], 0, -1), redis.call('HGETALL', KEYS[2]), redis.call('LRANGE', KEYS[3], 0, -1),
  redis.call('GET', KEYS[4]) }
`,
  z
    .tuple([z.array(z.string()), named, z.array(z.string()), z.string().nullable()])
    .transform(([messages, skillState, artifacts, workspace]) => ({
      ...{ messages, skillState, artifacts },
      workspace: workspace ?? undefined,
    })),
);
