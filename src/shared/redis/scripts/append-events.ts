import { z } from 'zod';
import { defineScript } from '../script.js';
import { appendEventLua, holdsLeaseLua, nowLua } from './lua-parts.js';

/**
 * Publishes turn events, if the lease is still the one in force.
 *
 * KEYS  session, turn, events
 * ARGV  token, nonce, event bodies (JSON) …
 * Reply the last seq, or -1 when the lease is lost
 */
export const appendEventsScript = defineScript(
  `${nowLua}${appendEventLua}${holdsLeaseLua}
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return -1 end
local seq = 0
for i = 3, #ARGV do seq = append(KEYS[3], KEYS[2], ARGV[i]) end
return seq
`,
  z.number(),
);
