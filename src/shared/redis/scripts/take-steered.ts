import { z } from 'zod';
import { defineScript } from '../script.js';
import { appendEventLua, holdsLeaseLua, nowLua } from './lua-parts.js';

/**
 * Lets messages join the running turn: each goes into its journal and its events, and the turn that brought it is over, all in one
 * step. One that was cancelled meanwhile is passed over; one that this attempt has taken already is answered again and not taken twice.
 *
 * KEYS  session, turn, events, journal, steered, then turn and events of each that joins
 * ARGV  token, nonce, result TTL (s), then of each: turnId, journal entry, event of the running turn, result (JSON each)
 * Reply the turns whose messages have joined; 'lost' alone when the lease is
 */
export const takeSteeredScript = defineScript(
  `${nowLua}${appendEventLua}${holdsLeaseLua}
local session, turn, events, journal, steered = unpack(KEYS, 1, 5)
if not holds(session, ARGV[1], ARGV[2]) then return { 'lost' } end
local attempt, ttl, taken = ARGV[1] .. ':' .. ARGV[2], ARGV[3], {}
for i = 0, (#ARGV - 3) / 4 - 1 do
  local id, entry, event, result = unpack(ARGV, 4 + i * 4, 7 + i * 4)
  local own, ownEvents = KEYS[6 + i * 2], KEYS[7 + i * 2]
  if redis.call('ZREM', steered, id) == 1 then
    redis.call('RPUSH', journal, entry)
    append(events, turn, event)
    redis.call('HSET', own, 'status', 'completed', 'result', result, 'joinedBy', attempt)
    append(ownEvents, own, '{"type":"turn.completed","result":' .. result .. '}')
    redis.call('EXPIRE', own, ttl)
    redis.call('EXPIRE', ownEvents, ttl)
  end
  if redis.call('HGET', own, 'joinedBy') == attempt then taken[#taken + 1] = id end
end
return taken
`,
  z.array(z.string()),
);
