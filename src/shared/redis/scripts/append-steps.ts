import { z } from 'zod';
import { defineScript } from '../script.js';
import { appendEventLua, holdsLeaseLua, nowLua } from './lua-parts.js';

/**
 * Publishes turn events and appends journal entries in one step, if the lease is still the one in force and the turn has no result.
 * An attempt numbers its writes: one that comes again, since its answer was lost, changes nothing. A reply or a result is progress,
 * and clears what counts claims without any.
 *
 * KEYS  session, turn, events, journal, steered
 * ARGV  token, nonce, number of the write in its attempt (from 1, rising), 1 for progress,
 *       ids of messages that have deltas and no end ('=' leaves them as they are), n, n event bodies (JSON), entries (JSON) …
 * Reply written | already | lost, each with the last seq, and how many messages wait to join the turn
 */
export const appendStepsScript = defineScript(
  `${nowLua}${appendEventLua}${holdsLeaseLua}
local session, turn, events, journal, steered = unpack(KEYS)
if not holds(session, ARGV[1], ARGV[2]) or redis.call('HEXISTS', turn, 'result') == 1 then
  return { 'lost', 0, 0 }
end
local seq, written = unpack(redis.call('HMGET', turn, 'seq', 'written'))
local attempt, number = ARGV[1] .. ':' .. ARGV[2], tonumber(ARGV[3])
local by, last = string.match(written or '', '^(.*) (%d+)$')
if by == attempt and number <= tonumber(last) then
  return { 'already', tonumber(seq), redis.call('ZCARD', steered) }
end
if ARGV[4] == '1' then redis.call('HDEL', turn, 'fruitless', 'throttled') end
if ARGV[5] == '' then
  redis.call('HDEL', turn, 'openMessages')
elseif ARGV[5] ~= '=' then
  redis.call('HSET', turn, 'openMessages', ARGV[5])
end
local firstEntry = 7 + tonumber(ARGV[6])
for i = 7, firstEntry - 1 do seq = append(events, turn, ARGV[i]) end
for i = firstEntry, #ARGV do redis.call('RPUSH', journal, ARGV[i]) end
redis.call('HSET', turn, 'written', attempt .. ' ' .. ARGV[3])
return { 'written', tonumber(seq or 0), redis.call('ZCARD', steered) }
`,
  z
    .tuple([z.enum(['written', 'already', 'lost']), z.number(), z.number()])
    .transform(([outcome, seq, waiting]) => ({ outcome, seq, waiting })),
);
