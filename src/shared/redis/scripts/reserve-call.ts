import { z } from 'zod';
import { defineScript } from '../script.js';
import { budgetLua, nowLua } from './lua-parts.js';

/**
 * Holds the most that a model call may cost against one budget. A call that does not fit beside those in flight is told
 * `busy`; as the only one it may pass the budget. Calls whose time is over count as spent, since they may have been billed;
 * a settlement corrects that for a day, then they are forgotten.
 *
 * KEYS  spent, calls
 * ARGV  call `id:tokens:microUsd:tokens:microUsd` (held; spent should it be lost), lifetime (ms), TTL (s),
 *       serial: 1 when calls of this budget never run beside each other, so that whatever is in flight was left by a lost worker,
 *       strict: 1 when the call must fit, even as the only one,
 *       budget in tokens, budget in micro-USD ('' is no limit)
 * Reply reserved | busy | spent, each with the unit that stood in the way ('' for none) and what is spent of it
 */
export const reserveCallScript = defineScript(
  `${nowLua}${budgetLua}
local spent, calls, call = KEYS[1], KEYS[2], ARGV[1]
local serial, strict = ARGV[4] == '1', ARGV[5] == '1'
local budgets = { tokens = tonumber(ARGV[6]), microUsd = tonumber(ARGV[7]) }
-- The command was sent again, after its answer was lost.
if redis.call('ZSCORE', calls, call) then return { 'reserved', '', 0 } end
local t = now()
for _, lost in ipairs(redis.call('ZRANGEBYSCORE', calls, 0, serial and '+inf' or t)) do
  local held, ifLost = amountsOf(lost)
  book(spent, 'held:', held, -1)
  book(spent, '', ifLost, 1)
  redis.call('ZADD', calls, -redis.call('ZSCORE', calls, lost), lost)
end
redis.call('ZREMRANGEBYSCORE', calls, 86400000 - t, 0)
local asked = amountsOf(call)
local over, overSpent = '', 0
for _, unit in ipairs({ 'tokens', 'microUsd' }) do
  local budget, sums = budgets[unit], redis.call('HMGET', spent, unit, 'held:' .. unit)
  local used, held = tonumber(sums[1] or 0), tonumber(sums[2] or 0)
  if budget and used >= budget then return { 'spent', unit, used } end
  if budget and used + held + asked[unit] > budget then over, overSpent = unit, used end
end
if over ~= '' and (strict or redis.call('ZCOUNT', calls, 0, '+inf') > 0) then
  return { 'busy', over, overSpent }
end
redis.call('ZADD', calls, t + tonumber(ARGV[2]), call)
book(spent, 'held:', asked, 1)
redis.call('EXPIRE', spent, ARGV[3])
redis.call('EXPIRE', calls, ARGV[3])
return { 'reserved', over, overSpent }
`,
  z
    .tuple([z.enum(['reserved', 'busy', 'spent']), z.enum(['', 'tokens', 'microUsd']), z.number()])
    .transform(([outcome, unit, spent]) => ({ outcome, unit, spent })),
);
