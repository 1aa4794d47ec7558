import { z } from 'zod';
import { defineScript } from '../script.js';
import { dropLeaseLua, holdsLeaseLua } from './lua-parts.js';

/**
 * Gives a lease back before its turn has a result, so that another worker may claim the turn at once.
 *
 * KEYS  session, turn
 * ARGV  token, nonce, why: `hand_over` (a worker that stops; does not use up an attempt) or `retry`
 * Reply 1 when it was still held, else 0
 */
export const releaseLeaseScript = defineScript(
  `${holdsLeaseLua}${dropLeaseLua}
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return 0 end
drop(KEYS[1])
redis.call('HSET', KEYS[2], 'status', 'queued')
if ARGV[3] == 'hand_over' then redis.call('HINCRBY', KEYS[2], 'handOvers', 1) end
return 1
`,
  z.number(),
);
