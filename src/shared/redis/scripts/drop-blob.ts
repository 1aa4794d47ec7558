import { z } from 'zod';
import { defineScript } from '../script.js';

/**
 * Removes a small blob that was not put again since somebody looked at it: each put renews its expiry.
 *
 * KEYS  blob
 * ARGV  milliseconds that it had left when it was looked at
 * Reply 1 when it is removed, else 0
 */
export const dropBlobScript = defineScript(
  `local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])
`,
  z.number(),
);
