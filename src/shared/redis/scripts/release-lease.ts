import { z } from 'zod';
import { defineScript } from '../script.js';
import { appendEventLua, dropLeaseLua, holdsLeaseLua, nowLua } from './lua-parts.js';

/**
 * Gives a lease back before its turn has a result, so that another worker may claim the turn: at once, or after a while. A turn that is
 * to be cancelled is not given away: whoever has it ends it.
 *
 * KEYS  session, turn, events
 * ARGV  token, nonce, why: `hand_over` (a worker that stops), `retry` (the attempt failed: the only one that counts as an attempt
 *       without progress) or `throttled` (an endpoint asked for a pause), ms until the next claim, last event of the attempt (JSON)
 * Reply released | cancel (still held) | lost
 */
export const releaseLeaseScript = defineScript(
  `${nowLua}${appendEventLua}${holdsLeaseLua}${dropLeaseLua}
local session, turn, why, pauseMs = KEYS[1], KEYS[2], ARGV[3], tonumber(ARGV[4])
if not holds(session, ARGV[1], ARGV[2]) then return 'lost' end
local asked = redis.call('HMGET', session, 'cancelRequested', 'leaseTurn')
if asked[1] and asked[1] == asked[2] then return 'cancel' end
drop(session)
redis.call('HSET', turn, 'status', 'queued')
if why ~= 'retry' and redis.call('HEXISTS', turn, 'fruitless') == 1 then redis.call('HINCRBY', turn, 'fruitless', -1) end
if why == 'throttled' then redis.call('HINCRBY', turn, 'throttled', 1) end
if pauseMs > 0 then redis.call('HSET', turn, 'notBefore', now() + pauseMs) end
append(KEYS[3], turn, ARGV[5])
return 'released'
`,
  z.enum(['released', 'cancel', 'lost']),
);
