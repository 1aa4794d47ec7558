import { z } from 'zod';
import { defineScript } from '../script.js';
import {
  appendEventLua,
  dropLeaseLua,
  expireSessionLua,
  finishTurnLua,
  holdsLeaseLua,
  nowLua,
} from './lua-parts.js';

/**
 * Ends a turn in one step: history, skill state, artifacts, workspace version, result, last event, place in the line, lease.
 * What the turn has stored beside it is garbage an hour later: whoever collects meanwhile may have looked at the session before.
 *
 * KEYS  session, line, turn, events, messages, skillState, artifacts, workspace, blobs
 * ARGV  token, nonce, turnId, status, result (JSON), result TTL (s), session TTL (s),
 *       workspace version (JSON; '' leaves the one before in force),
 *       n, n messages (JSON), n, n skill-state fields and values alternating (n = -1 leaves the state as it is), n, n artifacts (JSON)
 * Reply committed + the turn that is now the head of the line, or '' | already | lost
 */
export const commitTurnScript = defineScript(
  `${nowLua}${appendEventLua}${holdsLeaseLua}${dropLeaseLua}${finishTurnLua}${expireSessionLua}
local session, line, turn, events, messages, state, artifacts, workspace, blobs = unpack(KEYS)
if redis.call('HEXISTS', turn, 'result') == 1 then return { 'already', '' } end
if not holds(session, ARGV[1], ARGV[2]) then return { 'lost', '' } end
if ARGV[8] ~= '' then redis.call('SET', workspace, ARGV[8]) end
local at = 9
local function take()
  local count, values = tonumber(ARGV[at]), {}
  for i = 1, count do values[i] = ARGV[at + i] end
  at = at + count + 1
  return values
end
for _, message in ipairs(take()) do redis.call('RPUSH', messages, message) end
if ARGV[at] == '-1' then
  at = at + 1
else
  redis.call('DEL', state)
  local fields = take()
  for i = 1, #fields, 2 do redis.call('HSET', state, fields[i], fields[i + 1]) end
end
for _, artifact in ipairs(take()) do redis.call('RPUSH', artifacts, artifact) end
local head = finish(line, turn, events, ARGV[3], ARGV[4], ARGV[5], ARGV[6])
drop(session)
redis.call('EXPIRE', blobs, 3600)
expireSession(line, ARGV[7], { session, messages, state, artifacts, workspace })
return { 'committed', head }
`,
  z
    .tuple([z.enum(['committed', 'already', 'lost']), z.string()])
    .transform(([outcome, head]) => ({ outcome, head: head === '' ? undefined : head })),
);
