import { z } from 'zod';
import { turnIdSchema } from '../../contracts/index.js';
import { defineScript } from '../script.js';

/**
 * Tells which of some turns no worker will take now: those that have no job, and those whose job is delayed.
 *
 * KEYS  BullMQ's delayed jobs, the turns' jobs
 * ARGV  the turns' ids, in the same order
 * Reply [turn id, missing | delayed] each
 */
export const findIdleScript = defineScript(
  `
local idle = {}
for i, turnId in ipairs(ARGV) do
  if redis.call('EXISTS', KEYS[i + 1]) == 0 then idle[#idle + 1] = { turnId, 'missing' }
  elseif redis.call('ZSCORE', KEYS[1], turnId) then idle[#idle + 1] = { turnId, 'delayed' } end
end
return idle
`,
  z.array(z.tuple([turnIdSchema, z.enum(['missing', 'delayed'])])),
);
