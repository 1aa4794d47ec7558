import { z } from 'zod';
import { defineScript } from '../script.js';

/**
 * Empties a session that has no open turn. Its fencing token stays, so that no worker that once held it can ever write again.
 *
 * KEYS  session, line, delayed, messages, skillState, artifacts, workspace
 * ARGV  session TTL (s)
 * Reply reset | busy | unknown
 */
export const resetSessionScript = defineScript(
  `local session = KEYS[1]
if redis.call('EXISTS', session) == 0 then return 'unknown' end
if redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then return 'busy' end
local kept = {}
for _, field in ipairs({ 'sessionId', 'tenant', 'leaseToken', 'tickets' }) do
  kept[field] = redis.call('HGET', session, field)
end
redis.call('DEL', session, KEYS[4], KEYS[5], KEYS[6], KEYS[7])
for field, value in pairs(kept) do
  if value then redis.call('HSET', session, field, value) end
end
redis.call('EXPIRE', session, ARGV[1])
return 'reset'
`,
  z.enum(['reset', 'busy', 'unknown']),
);
