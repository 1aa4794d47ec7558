import { z } from 'zod';
import { defineScript } from '../script.js';
import { addCountsLua } from './lua-parts.js';

/**
 * Counts a turn's usage for each skill that it used, once a turn.
 *
 * KEYS  counted, usage by skill
 * ARGV  TTL of `counted` (s), TTL of the usage (s), how many counts, counts …, skills …
 * Reply 1 when it was counted, 0 when it had been
 */
export const countSkillsScript = defineScript(
  `${addCountsLua}
if not redis.call('SET', KEYS[1], '1', 'NX', 'EX', ARGV[1]) then return 0 end
local first = 4 + tonumber(ARGV[3])
local counts = { unpack(ARGV, 4, first - 1) }
for i = first, #ARGV do addCounts(KEYS[2], ARGV[i], counts) end
redis.call('EXPIRE', KEYS[2], ARGV[2])
return 1
`,
  z.number(),
);
