import { z } from 'zod';
import { defineScript } from '../script.js';
import {
  expireSessionLua,
  finishLua,
  headLua,
  keepArtifactLua,
  placeLua,
  promoteLua,
} from './line-lua.js';
import { appendEventLua, dropLeaseLua, nowLua } from './lua-parts.js';
import { keysLua } from './session-turn-keys.js';

/**
 * Cancels a turn: one that nobody runs (it waits, is delayed, is to join another, or is between two attempts) ends here and now; for
 * one that runs, its worker is told at its next renewal. The turn stays in the history, closed validly.
 *
 * KEYS  sessionTurnKeys
 * ARGV  turnId, result (JSON) for a turn that nobody runs, length of the journal that it was made of, result TTL (s), session TTL (s),
 *       workspace version (JSON; '' leaves the one before in force), n, n artifacts (JSON), messages (JSON) …
 * Reply finished | requested | unknown | changed (somebody ran it meanwhile: make the result anew) | cancelled,
 *       + the turn that is now the head of the line or '', its priority
 */
export const cancelTurnScript = defineScript(
  `${nowLua}${appendEventLua}${dropLeaseLua}${placeLua}${promoteLua}${headLua}${finishLua}${expireSessionLua}${keepArtifactLua}${keysLua}
local turnId, ttl = ARGV[1], ARGV[4]
if redis.call('EXISTS', keys.turn) == 0 then return { 'unknown', '', 0 } end
if redis.call('HEXISTS', keys.turn, 'result') == 1 then return { 'finished', headOf(keys.line) } end
local lease = redis.call('HMGET', keys.session, 'leaseTurn', 'leaseExpiresAt')
if lease[1] == turnId and tonumber(lease[2]) > now() then
  redis.call('HSET', keys.session, 'cancelRequested', turnId)
  return { 'requested', '', 0 }
end
if redis.call('LLEN', keys.journal) ~= tonumber(ARGV[3]) then return { 'changed', '', 0 } end
if lease[1] == turnId then drop(keys.session) end
if ARGV[6] ~= '' then redis.call('SET', keys.workspace, ARGV[6]) end
local firstMessage = 8 + tonumber(ARGV[7])
for i = 8, firstMessage - 1 do keepArtifact(keys.artifacts, ARGV[i]) end
for i = firstMessage, #ARGV do redis.call('RPUSH', keys.messages, ARGV[i]) end
redis.call('HSET', keys.turn, 'left', #ARGV - firstMessage + 1)
redis.call('HSET', keys.session, 'lastTurn', turnId)
finish(keys, turnId, 'cancelled', ARGV[2], ttl)
redis.call('EXPIRE', keys.journal, ttl)
redis.call('EXPIRE', keys.blobs, ttl)
expireSession(keys, ARGV[5])
return { 'cancelled', headOf(keys.line) }
`,
  z
    .tuple([
      z.enum(['finished', 'requested', 'unknown', 'changed', 'cancelled']),
      z.string(),
      z.number(),
    ])
    .transform(([outcome, turnId, priority]) => ({
      outcome,
      head: turnId === '' ? undefined : { turnId, priority },
    })),
);
