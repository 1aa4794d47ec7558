import { z } from 'zod';
import { defineScript } from '../script.js';

/**
 * Notes what a worker's sandbox serves, or (empty) that it is closed.
 *
 * KEYS  the worker's sandboxes
 * ARGV  TTL (s), name of the sandbox, what it serves (JSON) or empty
 * Reply 1
 */
export const noteSandboxScript = defineScript(
  `if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[2])
else
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
`,
  z.number(),
);
