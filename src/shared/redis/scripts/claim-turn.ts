import { z } from 'zod';
import { defineScript } from '../script.js';
import { headLua, placeLua, promoteLua } from './line-lua.js';
import { appendEventLua, nowLua } from './lua-parts.js';
import { keysLua } from './session-turn-keys.js';

const number = z.coerce.number();
const numbers = z.object({
  token: number,
  attempt: number,
  fruitless: number,
  throttled: number,
  acceptedAt: number,
  startedAt: number,
  now: number,
});

/** Names and values, alternating. */
const named = z
  .array(z.union([z.string(), z.number()]))
  .transform((flat) =>
    numbers.parse(
      Object.fromEntries(flat.flatMap((key, at) => (at % 2 === 0 ? [[key, flat[at + 1]]] : []))),
    ),
  );

const claimed = z
  .tuple([z.literal('claimed'), named])
  .transform(([outcome, claim]) => ({ outcome, ...claim }));

const other = z
  .tuple([z.enum(['finished', 'waiting', 'unknown'])])
  .transform(([outcome]) => ({ outcome }));

const later = z
  .tuple([z.enum(['held', 'delayed']), z.number()])
  .transform(([outcome, msLeft]) => ({ outcome, msLeft }));

/**
 * Gives the lease on a session to one worker, if this turn is the head of the line and nobody holds a lease that has not run out.
 * Each claim raises the fencing token and counts as an attempt; one that is sent again (same nonce) gets the same answer.
 *
 * KEYS  sessionTurnKeys
 * ARGV  turnId, workerId, nonce, lease in ms
 * Reply claimed + token, attempt, claims without progress (this one included), waits for an endpoint without progress, acceptedAt, first
 *       startedAt, now (ms) | held | delayed, each + ms left | finished | waiting | unknown
 */
export const claimTurnScript = defineScript(
  `${nowLua}${appendEventLua}${placeLua}${promoteLua}${headLua}${keysLua}
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
local of = redis.call('HMGET', turn, 'attempts', 'fruitless', 'throttled', 'acceptedAt', 'startedAt')
return { 'claimed', { 'token', redis.call('HGET', session, 'leaseToken'), 'attempt', of[1], 'fruitless', of[2] or 0,
  'throttled', of[3] or 0, 'acceptedAt', of[4], 'startedAt', of[5], 'now', t } }
`,
  z.union([claimed, later, other]),
);
