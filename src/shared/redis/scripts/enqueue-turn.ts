import { z } from 'zod';
import { defineScript } from '../script.js';
import { appendEventLua, nowLua } from './lua-parts.js';

/**
 * Accepts a turn: request, place at the end of its session's line, first event, all or nothing.
 *
 * KEYS  session, line, turn, events, messages, skillState, artifacts, workspace (the last four only lose their expiry)
 * ARGV  turnId, sessionId, tenant, request (JSON)
 * Reply the turn's position in the line, 1 for the head. The same turn again changes nothing.
 */
export const enqueueTurnScript = defineScript(
  `${nowLua}${appendEventLua}
local session, line, turn, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local turnId, sessionId, tenant, request = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call('EXISTS', turn) == 1 then
  local place = redis.call('LPOS', line, turnId)
  return place and place + 1 or 0
end
redis.call('HSET', session, 'sessionId', sessionId, 'tenant', tenant)
redis.call('HSET', turn, 'sessionId', sessionId, 'request', request, 'status', 'queued',
  'attempts', 0, 'acceptedAt', now())
for i = 5, 8 do redis.call('PERSIST', KEYS[i]) end
redis.call('PERSIST', session)
local position = redis.call('RPUSH', line, turnId)
append(events, turn, '{"type":"turn.queued","position":' .. position .. '}')
return position
`,
  z.number(),
);
