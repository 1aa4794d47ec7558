import { z } from 'zod';
import { defineScript } from '../script.js';

/**
 * Notes a blob that a running turn has stored, so that no collector takes it for garbage.
 *
 * KEYS  the turn's blobs
 * ARGV  SHA-256, TTL (s)
 * Reply 1
 */
export const noteBlobScript = defineScript(
  `redis.call('SADD', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
`,
  z.number(),
);
