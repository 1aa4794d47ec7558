import { z } from 'zod';
import { defineScript } from '../script.js';
import { headLua } from './line-lua.js';
import { nowLua } from './lua-parts.js';

/**
 * Asks whoever runs a turn to cancel it: its worker is told at its next renewal. A turn that nobody runs is left alone, or, if it is the
 * head of its session's line, to the worker that takes it next.
 *
 * KEYS  session, turn, line
 * ARGV  turnId, 1 to ask the next worker where nobody runs it
 * Reply finished | unknown | requested | idle (nobody runs it, and nobody was asked)
 */
export const askToCancelScript = defineScript(
  `${nowLua}${headLua}
local session, turn, turnId = KEYS[1], KEYS[2], ARGV[1]
if redis.call('EXISTS', turn) == 0 then return 'unknown' end
if redis.call('HEXISTS', turn, 'result') == 1 then return 'finished' end
local lease = redis.call('HMGET', session, 'leaseTurn', 'leaseExpiresAt')
local isRunning = lease[1] == turnId and tonumber(lease[2]) > now()
local isNext = ARGV[2] == '1' and headOf(KEYS[3]) == turnId
if not isRunning and not isNext then return 'idle' end
redis.call('HSET', session, 'cancelRequested', turnId)
return 'requested'
`,
  z.enum(['finished', 'unknown', 'requested', 'idle']),
);
