import { z } from 'zod';
import { defineScript } from '../script.js';
import { markFreshMs } from './enqueue-turn.js';
import { nowLua } from './lua-parts.js';

/** So much older than fresh a mark must be: clocks of a cluster's nodes may differ by the rest. */
const forgetAfterMs = 3 * markFreshMs;

/**
 * Takes back the mark of a session that was seen without open turns, unless it was marked again meanwhile or not long ago.
 *
 * KEYS  open sessions
 * ARGV  entry, the mark that was seen (ms)
 * Reply 1 when it is gone, else 0
 */
export const forgetSessionScript = defineScript(
  `${nowLua}
local mark = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not mark or tonumber(mark) ~= tonumber(ARGV[2]) or now() - tonumber(mark) < ${forgetAfterMs} then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
`,
  z.number(),
);
