import { z } from 'zod';
import { defineScript } from '../script.js';

/**
 * Tells which of some keys of one slot do not exist.
 *
 * KEYS  any
 * Reply their places among KEYS, from 1
 */
export const findMissingScript = defineScript(
  `
local missing = {}
for i, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 0 then missing[#missing + 1] = i end
end
return missing
`,
  z.array(z.number()),
);
