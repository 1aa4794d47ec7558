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
import { appendEventLua, dropLeaseLua, holdsLeaseLua, nowLua } from './lua-parts.js';
import { keysLua } from './session-turn-keys.js';

/**
 * Ends a turn in one step: history, skill state, artifacts, workspace version, result, last event, place in the line, lease.
 * A turn does not complete while a message that joins it is unread. What the turn has stored beside it is garbage an hour later:
 * whoever collects meanwhile may have looked at the session before. Of a turn that did not complete, journal and files stay for
 * whoever tries it again.
 *
 * KEYS  sessionTurnKeys
 * ARGV  token, nonce, turnId, status, result (JSON), result TTL (s), session TTL (s),
 *       workspace version (JSON; '' leaves the one before in force),
 *       n, n messages (JSON), n, n skill-state fields and values alternating (n = -1 leaves the state as it is), n, n artifacts (JSON)
 * Reply committed | already | unread | lost, + the turn that is now the head of the line or '', its priority
 */
export const commitTurnScript = defineScript(
  `${nowLua}${appendEventLua}${holdsLeaseLua}${dropLeaseLua}${placeLua}${promoteLua}${headLua}${finishLua}${expireSessionLua}${keepArtifactLua}${keysLua}
local turnId, status, ttl = ARGV[3], ARGV[4], ARGV[6]
if redis.call('HEXISTS', keys.turn, 'result') == 1 then return { 'already', headOf(keys.line) } end
if not holds(keys.session, ARGV[1], ARGV[2]) then return { 'lost', '', 0 } end
if status == 'completed' and redis.call('EXISTS', keys.steered) == 1 then return { 'unread', '', 0 } end
if ARGV[8] ~= '' then redis.call('SET', keys.workspace, ARGV[8]) end
local at = 9
local function take()
  local count, values = tonumber(ARGV[at]), {}
  for i = 1, count do values[i] = ARGV[at + i] end
  at = at + count + 1
  return values
end
local messages = take()
for _, message in ipairs(messages) do redis.call('RPUSH', keys.messages, message) end
if ARGV[at] == '-1' then
  at = at + 1
else
  redis.call('DEL', keys.skillState)
  local fields = take()
  for i = 1, #fields, 2 do redis.call('HSET', keys.skillState, fields[i], fields[i + 1]) end
end
for _, artifact in ipairs(take()) do keepArtifact(keys.artifacts, artifact) end
redis.call('HSET', keys.turn, 'left', #messages)
redis.call('HSET', keys.session, 'lastTurn', turnId)
finish(keys, turnId, status, ARGV[5], ttl)
drop(keys.session)
if status == 'completed' then
  redis.call('DEL', keys.journal)
  redis.call('EXPIRE', keys.blobs, 3600)
else
  redis.call('EXPIRE', keys.journal, ttl)
  redis.call('EXPIRE', keys.blobs, ttl)
end
expireSession(keys, ARGV[7])
return { 'committed', headOf(keys.line) }
`,
  z
    .tuple([z.enum(['committed', 'already', 'unread', 'lost']), z.string(), z.number()])
    .transform(([outcome, turnId, priority]) => ({
      outcome,
      head: turnId === '' ? undefined : { turnId, priority },
    })),
);
