import { z } from 'zod';
import { defineScript } from '../script.js';
import { addCountsLua, budgetLua, nowLua } from './lua-parts.js';

/** A call that is told again counts once if it is told within this time. */
const rememberedMs = 60_000;

/**
 * Counts a call for which nothing was held, since no budget limits it: in the tenant's spending and in the day's usage, once. Its id
 * stands among the calls for a while, in a form that reserve-call and settle-call never look at: negative, without amounts.
 *
 * KEYS  spent, calls, usage by model, usage by session
 * ARGV  call id (without `:`), tokens, micro-USD, TTL (s), model, `session model`, TTL of the usage by model (s), of that by session (s),
 *       counts …
 * Reply 1 when it was counted, else 0
 */
export const countCallScript = defineScript(
  `${nowLua}${budgetLua}${addCountsLua}
local spent, calls, id = KEYS[1], KEYS[2], ARGV[1]
if redis.call('ZSCORE', calls, id) then return 0 end
local t = now()
for _, old in ipairs(redis.call('ZRANGEBYSCORE', calls, ${rememberedMs} - t, 0, 'LIMIT', 0, 10)) do
  if not string.find(old, ':', 1, true) then redis.call('ZREM', calls, old) end
end
redis.call('ZADD', calls, -t, id)
book(spent, '', { tokens = ARGV[2], microUsd = ARGV[3] }, 1)
redis.call('EXPIRE', spent, ARGV[4])
redis.call('EXPIRE', calls, ARGV[4])
for i = 3, 4 do
  addCounts(KEYS[i], ARGV[i + 2], { unpack(ARGV, 9) })
  redis.call('EXPIRE', KEYS[i], ARGV[i + 4])
end
return 1
`,
  z.number(),
);
