import { z } from 'zod';
import { defineScript } from '../script.js';
import { headLua, placeLua, promoteLua } from './line-lua.js';
import { appendEventLua, nowLua } from './lua-parts.js';
import { sessionLua, storedSession } from './session-lua.js';
import { keysLua } from './session-turn-keys.js';

const number = z.coerce.number();
const counts = z
  .tuple([number, number, number, number, number, number, number, number])
  .transform(([token, attempt, fruitless, throttled, acceptedAt, startedAt, now, cancel]) => ({
    ...{ token, attempt, fruitless, throttled, acceptedAt, startedAt, now },
    isCancelled: cancel === 1,
  }));

const claimed = z
  .tuple([z.literal('claimed'), counts, z.string(), z.string(), storedSession])
  .transform(([outcome, claim, request, retryOf, session]) => ({
    ...claim,
    ...{ outcome, request, session },
    retryOf: retryOf === '' ? undefined : retryOf,
  }));

const other = z
  .tuple([z.enum(['finished', 'waiting', 'unknown'])])
  .transform(([outcome]) => ({ outcome }));

const later = z
  .tuple([z.enum(['held', 'delayed']), z.number()])
  .transform(([outcome, msLeft]) => ({ outcome, msLeft }));

/**
 * Gives the lease on a session to one worker, if this turn is the head of the line and nobody holds a lease that has not run out.
 * Each claim raises the fencing token and counts as an attempt; one that is sent again (same nonce) gets the same answer.
 * With the lease comes all that the turn goes on from but its journal, so that nothing has to be read after it.
 *
 * KEYS  sessionTurnKeys
 * ARGV  turnId, workerId, nonce, lease in ms
 * Reply claimed + { token, attempt, claims without progress (this one included), waits for an endpoint without progress, acceptedAt,
 *       first startedAt, now (ms), 1 when it is to be cancelled else 0 }, request (JSON), the turn that this one tries again or '', the session | held | delayed, each + ms left | finished | waiting | unknown
 */
export const claimTurnScript = defineScript(
  `${nowLua}${appendEventLua}${placeLua}${promoteLua}${headLua}${sessionLua}${keysLua}
local turnId, workerId, nonce, leaseMs = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local session, turn = keys.session, keys.turn
if redis.call('EXISTS', turn) == 0 then return { 'unknown' } end
if redis.call('HEXISTS', turn, 'result') == 1 then return { 'finished' } end
local t = now()
promote(session, keys.line, keys.delayed, t)
local due = redis.call('ZSCORE', keys.delayed, turnId)
if due then return { 'delayed', math.floor(tonumber(due) / 4) - t } end
if headOf(keys.line) ~= turnId then return { 'waiting' } end
local lease = redis.call('HMGET', session, 'leaseExpiresAt', 'leaseNonce')
if lease[2] ~= nonce then
  local free = math.max(tonumber(lease[1] or 0), tonumber(redis.call('HGET', turn, 'notBefore') or 0))
  if free > t then return { 'held', free - t } end
  redis.call('HINCRBY', session, 'leaseToken', 1)
  redis.call('HSET', session, 'leaseTurn', turnId, 'leaseNonce', nonce, 'leaseOwner', workerId,
    'leaseExpiresAt', t + leaseMs, 'begun', turnId)
  local attempt = redis.call('HINCRBY', turn, 'attempts', 1)
  redis.call('HINCRBY', turn, 'fruitless', 1)
  redis.call('HSETNX', turn, 'startedAt', t)
  redis.call('HSET', turn, 'status', 'running')
  redis.call('HDEL', turn, 'notBefore')
  append(keys.events, turn, cjson.encode({ type = 'turn.started', workerId = workerId, attempt = attempt }))
end
local of = redis.call('HMGET', turn, 'attempts', 'fruitless', 'throttled', 'acceptedAt', 'startedAt', 'request', 'retryOf')
local held = redis.call('HMGET', session, 'leaseToken', 'cancelRequested')
return { 'claimed', { held[1], of[1], of[2] or 0, of[3] or 0, of[4], of[5], t, held[2] == turnId and 1 or 0 },
  of[6] or '', of[7] or '', sessionOf(keys.messages, keys.skillState, keys.artifacts, keys.workspace) }
`,
  z.union([claimed, later, other]),
);
