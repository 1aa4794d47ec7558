import { z } from 'zod';
import { turnIdSchema } from '../../contracts/index.js';
import { defineScript } from '../script.js';
import { nowLua } from './lua-parts.js';

const first = z
  .array(z.string())
  .transform(([member, score]) =>
    member === undefined ? undefined : { turnId: turnIdSchema.parse(member), score: Number(score) },
  );

/**
 * Tells what the sweep has to know of a session.
 *
 * KEYS  line, delayed, session
 * Reply the line's first turn and its score, the same of the turns that are not due (both may be empty), the session's id or nil,
 *       1 when a worker has the lease for the line's first turn else 0, now (ms)
 */
export const lookAtLineScript = defineScript(
  `${nowLua}
local head = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local of = redis.call('HMGET', KEYS[3], 'sessionId', 'leaseExpiresAt', 'leaseTurn')
local t = now()
local isRunning = of[3] and of[3] == head[1] and tonumber(of[2] or 0) > t
return { head, redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES'), of[1], isRunning and 1 or 0, t }
`,
  z
    .tuple([first, first, z.string().nullable(), z.number(), z.number()])
    .transform(([head, delayed, sessionId, isRunning, now]) => ({
      ...{ head, delayed, sessionId, now },
      isRunning: isRunning === 1,
    })),
);
