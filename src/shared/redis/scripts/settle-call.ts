import { z } from 'zod';
import { defineScript } from '../script.js';
import { addCountsLua, budgetLua } from './lua-parts.js';

/**
 * Puts what a call did cost in place of what was held for it, once: a call that is not known (any more) changes nothing, and one
 * that counted as lost is corrected. With the tenant's budget the day's usage is counted in the same step.
 *
 * KEYS  spent, calls [, usage by model, usage by session]
 * ARGV  call `id:tokens:microUsd:tokens:microUsd`, tokens, micro-USD, TTL (s)
 *       [, model, `session model`, TTL of the usage by model (s), of that by session (s), counts …]
 * Reply 1 when it was counted, else 0
 */
export const settleCallScript = defineScript(
  `${budgetLua}${addCountsLua}
local spent, calls, call = KEYS[1], KEYS[2], ARGV[1]
local score = redis.call('ZSCORE', calls, call)
if not score then return 0 end
redis.call('ZREM', calls, call)
local held, ifLost = amountsOf(call)
if tonumber(score) < 0 then book(spent, '', ifLost, -1) else book(spent, 'held:', held, -1) end
book(spent, '', { tokens = ARGV[2], microUsd = ARGV[3] }, 1)
redis.call('EXPIRE', spent, ARGV[4])
redis.call('EXPIRE', calls, ARGV[4])
for i = 3, #KEYS do
  addCounts(KEYS[i], ARGV[i + 2], { unpack(ARGV, 9) })
  redis.call('EXPIRE', KEYS[i], ARGV[i + 4])
end
return 1
`,
  z.number(),
);
