import { z } from 'zod';
import { defineScript } from '../script.js';
import { nowLua } from './lua-parts.js';

/**
 * Says that a session may soon have a turn, so that the sweep finds the turn whatever becomes of its producer.
 *
 * KEYS  open sessions
 * ARGV  entry (`tenant/tag`)
 * Reply when (ms): the turn is accepted only while the mark is fresh (enqueue-turn.ts)
 */
export const markSessionScript = defineScript(
  `${nowLua}
local t = now()
redis.call('ZADD', KEYS[1], t, ARGV[1])
return t
`,
  z.number(),
);
