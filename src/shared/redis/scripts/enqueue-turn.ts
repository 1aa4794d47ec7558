import { z } from 'zod';
import { turnIdSchema } from '../../contracts/index.js';
import { defineScript } from '../script.js';
import { headLua, placeLua, promoteLua } from './line-lua.js';
import { appendEventLua, nowLua } from './lua-parts.js';
import { resumeLua } from './resume-lua.js';
import { keysLua, sessionTurnKeyCount as count } from './session-turn-keys.js';

const makeWay = z.union([turnIdSchema, z.literal('').transform(() => undefined)]);

/** A mark that is older than this may soon be swept away, and the turn with it: it is to be made anew first (mark-session.ts). */
export const markFreshMs = 20_000;

/**
 * Accepts a turn: request, place in its session's line, first event, all or nothing. What a turn of the same id has spent, whose result
 * has expired, is not this one's.
 *
 * KEYS  sessionTurnKeys, the two of the turn's budget; of a turn that tries another again also that one's turn, journal, blobs
 * ARGV  turnId, sessionId, tenant, request (JSON), priority (0 high, 1 normal, 2 low), delay in ms, onBusy (queue | reject | interrupt |
 *       steer), when the session was marked open (ms), the turn that this one tries again or ''
 * Reply accepted | known (the same turn again: changes nothing) + place in the line (1 for the head, 0 for a turn that has none),
 *       due at (ms; 0 for a turn in the line), the running turn that was asked to make way or '' | busy | stale
 */
export const enqueueTurnScript = defineScript(
  `${nowLua}${appendEventLua}${placeLua}${promoteLua}${headLua}${resumeLua}${keysLua}
local turnId, sessionId, tenant, request, retryOf = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[9]
local priority, delayMs, onBusy, markedAt = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8])
local function placeOf(id)
  local rank = redis.call('ZRANK', keys.line, id)
  return rank and rank + 1 or 0
end
if redis.call('EXISTS', keys.turn) == 1 then
  local due = tonumber(redis.call('ZSCORE', keys.delayed, turnId) or 0)
  return { 'known', placeOf(turnId), math.floor(due / 4), '' }
end
local t = now()
if t - markedAt > ${markFreshMs} then return { 'stale', 0, 0, '' } end
promote(keys.session, keys.line, keys.delayed, t)
local head = headOf(keys.line)
if onBusy == 'reject' and head ~= '' then return { 'busy', 0, 0, '' } end

redis.call('HSET', keys.session, 'sessionId', sessionId, 'tenant', tenant)
redis.call('HSET', keys.turn, 'sessionId', sessionId, 'request', request, 'status', 'queued', 'attempts', 0, 'acceptedAt', t)
redis.call('DEL', KEYS[${count + 1}], KEYS[${count + 2}])
if retryOf ~= '' then redis.call('HSET', keys.turn, 'retryOf', retryOf) end
for _, name in ipairs({ 'session', 'messages', 'skillState', 'artifacts', 'workspace' }) do redis.call('PERSIST', keys[name]) end

local running = head ~= '' and redis.call('HGET', keys.session, 'begun') == head
local dueAt, makeWay = 0, ''
if delayMs > 0 then
  dueAt = t + delayMs
  redis.call('ZADD', keys.delayed, dueAt * 4 + priority, turnId)
elseif onBusy == 'steer' and running then
  place(keys.session, keys.steered, turnId, priority)
else
  place(keys.session, keys.line, turnId, priority)
  if onBusy == 'interrupt' and running then
    makeWay = head
    redis.call('HSET', keys.session, 'cancelRequested', head)
  end
end
if retryOf ~= '' then resume(keys, turnId, retryOf) end
local position = placeOf(turnId)
local told = { type = 'turn.queued', position = position }
if dueAt > 0 then told.delayMs = delayMs end
if redis.call('ZSCORE', keys.steered, turnId) then told.joins = head end
append(keys.events, keys.turn, cjson.encode(told))
return { 'accepted', position, dueAt, makeWay }
`,
  z
    .tuple([z.enum(['accepted', 'known', 'busy', 'stale']), z.number(), z.number(), makeWay])
    .transform(([outcome, position, dueAt, makeWay]) => ({ outcome, position, dueAt, makeWay })),
);
