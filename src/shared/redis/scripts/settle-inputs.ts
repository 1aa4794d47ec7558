import { z } from 'zod';
import { defineScript } from '../script.js';
import { holdsLeaseLua } from './lua-parts.js';

/**
 * Puts a turn's request in place of itself once its files are in the blob store: another attempt uses the same bytes, and whoever
 * collects garbage sees that the turn refers to them.
 *
 * KEYS  session, turn
 * ARGV  token, nonce, request (JSON)
 * Reply settled | lost
 */
export const settleInputsScript = defineScript(
  `${holdsLeaseLua}
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return 'lost' end
redis.call('HSET', KEYS[2], 'request', ARGV[3])
return 'settled'
`,
  z.enum(['settled', 'lost']),
);
