import { z } from 'zod';
import { defineScript } from '../script.js';

/**
 * Empties a session that has no open turn. Its fencing token stays, so that no worker that once held it can ever write again.
 *
 * KEYS  session, line, messages, skillState, artifacts, workspace
 * ARGV  session TTL (s)
 * Reply reset | busy | unknown
 */
export const resetSessionScript = defineScript(
  `local session, line = KEYS[1], KEYS[2]
if redis.call('EXISTS', session) == 0 then return 'unknown' end
if redis.call('EXISTS', line) == 1 then return 'busy' end
local kept = {}
for _, field in ipairs({ 'sessionId', 'tenant', 'leaseToken' }) do
  kept[field] = redis.call('HGET', session, field)
end
redis.call('DEL', session, KEYS[3], KEYS[4], KEYS[5], KEYS[6])
for field, value in pairs(kept) do
  if value then redis.call('HSET', session, field, value) end
end
redis.call('EXPIRE', session, ARGV[1])
return 'reset'
`,
  z.enum(['reset', 'busy', 'unknown']),
);
