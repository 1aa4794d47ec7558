import { z } from 'zod';
import { defineScript } from '../script.js';
import {
  appendEventLua,
  dropLeaseLua,
  expireSessionLua,
  finishTurnLua,
  nowLua,
} from './lua-parts.js';

/**
 * Cancels a turn: one that waits (or whose worker's lease ran out) ends here and now; for one that runs,
 * its worker is told at its next renewal. The turn stays in the history, closed validly.
 *
 * KEYS  session, line, turn, events, messages, skillState, artifacts, workspace
 * ARGV  turnId, result (JSON) for a turn that waits, result TTL (s), session TTL (s), messages (JSON) …
 * Reply finished | requested | unknown | cancelled + the turn that is now the head of the line, or ''
 */
export const cancelTurnScript = defineScript(
  `${nowLua}${appendEventLua}${dropLeaseLua}${finishTurnLua}${expireSessionLua}
local session, line, turn, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if redis.call('EXISTS', turn) == 0 then return { 'unknown', '' } end
if redis.call('HEXISTS', turn, 'result') == 1 then return { 'finished', '' } end
local lease = redis.call('HMGET', session, 'leaseTurn', 'leaseExpiresAt')
if lease[1] == ARGV[1] then
  if tonumber(lease[2]) > now() then
    redis.call('HSET', turn, 'cancelRequested', 1)
    return { 'requested', '' }
  end
  drop(session)
end
for i = 5, #ARGV do redis.call('RPUSH', KEYS[5], ARGV[i]) end
local head = finish(line, turn, events, ARGV[1], 'cancelled', ARGV[2], ARGV[3])
expireSession(line, ARGV[4], { session, KEYS[5], KEYS[6], KEYS[7], KEYS[8] })
return { 'cancelled', head }
`,
  z
    .tuple([z.enum(['finished', 'requested', 'unknown', 'cancelled']), z.string()])
    .transform(([outcome, head]) => ({ outcome, head: head === '' ? undefined : head })),
);
