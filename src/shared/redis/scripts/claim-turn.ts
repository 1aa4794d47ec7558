import { z } from 'zod';
import { defineScript } from '../script.js';
import { appendEventLua, nowLua } from './lua-parts.js';

const claimed = z
  .tuple([
    z.literal('claimed'),
    z.number(),
    z.number(),
    z.number(),
    z.number(),
    z.number(),
    z.number(),
  ])
  .transform(([outcome, token, attempt, handOvers, acceptedAt, startedAt, now]) => ({
    outcome,
    token,
    attempt,
    handOvers,
    acceptedAt,
    startedAt,
    now,
  }));

const other = z
  .tuple([z.enum(['finished', 'waiting', 'unknown'])])
  .transform(([outcome]) => ({ outcome }));

const held = z
  .tuple([z.literal('held'), z.number()])
  .transform(([outcome, msLeft]) => ({ outcome, msLeft }));

/**
 * Gives the lease on a session to one worker, if this turn is the head of the line and nobody holds a lease
 * that has not run out. Each claim raises the fencing token and counts as an attempt.
 *
 * KEYS  session, line, turn, events
 * ARGV  turnId, workerId, nonce, lease in ms
 * Reply claimed + token, attempt, hand-overs before it, acceptedAt, first startedAt, now (ms) | held + ms left | finished | waiting | unknown
 */
export const claimTurnScript = defineScript(
  `${nowLua}${appendEventLua}
local session, line, turn, events = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local turnId, workerId, nonce, leaseMs = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
if redis.call('EXISTS', turn) == 0 then return { 'unknown' } end
if redis.call('HEXISTS', turn, 'result') == 1 then return { 'finished' } end
if redis.call('LINDEX', line, 0) ~= turnId then return { 'waiting' } end
local t = now()
local expires = tonumber(redis.call('HGET', session, 'leaseExpiresAt') or 0)
if expires > t then return { 'held', expires - t } end
local token = redis.call('HINCRBY', session, 'leaseToken', 1)
redis.call('HSET', session, 'leaseTurn', turnId, 'leaseNonce', nonce, 'leaseOwner', workerId,
  'leaseExpiresAt', t + leaseMs)
local attempt = redis.call('HINCRBY', turn, 'attempts', 1)
redis.call('HSETNX', turn, 'startedAt', t)
redis.call('HSET', turn, 'status', 'running')
append(events, turn, cjson.encode({ type = 'turn.started', workerId = workerId, attempt = attempt }))
return { 'claimed', token, attempt, tonumber(redis.call('HGET', turn, 'handOvers') or 0),
  tonumber(redis.call('HGET', turn, 'acceptedAt')),
  tonumber(redis.call('HGET', turn, 'startedAt')), t }
`,
  z.union([claimed, held, other]),
);
