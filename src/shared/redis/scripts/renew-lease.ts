import { z } from 'zod';
import { defineScript } from '../script.js';
import { holdsLeaseLua, nowLua } from './lua-parts.js';

/**
 * Moves a lease's expiry on, and tells its holder whether a cancel has been asked for.
 *
 * KEYS  session
 * ARGV  token, nonce, lease in ms
 * Reply held | cancel (held, and its turn is to be cancelled) | lost
 */
export const renewLeaseScript = defineScript(
  `${nowLua}${holdsLeaseLua}
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return 'lost' end
redis.call('HSET', KEYS[1], 'leaseExpiresAt', now() + tonumber(ARGV[3]))
local asked = redis.call('HMGET', KEYS[1], 'cancelRequested', 'leaseTurn')
return asked[1] == asked[2] and 'cancel' or 'held'
`,
  z.enum(['held', 'cancel', 'lost']),
);
