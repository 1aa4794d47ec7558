import { z } from 'zod';
import { defineScript } from '../script.js';
import { holdsLeaseLua, nowLua } from './lua-parts.js';

/**
 * Moves a lease's expiry on, and tells its holder whether a cancel has been asked for.
 *
 * KEYS  session, turn
 * ARGV  token, nonce, lease in ms
 * Reply held | cancel (held, and the turn is to be cancelled) | lost
 */
export const renewLeaseScript = defineScript(
  `${nowLua}${holdsLeaseLua}
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return 'lost' end
redis.call('HSET', KEYS[1], 'leaseExpiresAt', now() + tonumber(ARGV[3]))
return redis.call('HEXISTS', KEYS[2], 'cancelRequested') == 1 and 'cancel' or 'held'
`,
  z.enum(['held', 'cancel', 'lost']),
);
