import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { redisError, type RedisClient } from './redis-client.js';

/** One Redis state change: its Lua text and the shape of its reply. Scripts receive full keys; none is made inside Lua. */
export interface Script<Reply> {
  run(
    client: RedisClient,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<Reply>;
}

/** Makes a script of its Lua text; the reply is checked against `reply`. `run` throws SkillmillError REDIS_UNAVAILABLE. */
export function defineScript<Schema extends z.ZodType>(
  lua: string,
  reply: Schema,
): Script<z.output<Schema>> {
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    async run(client, keys, args) {
      const call = [...keys, ...args];
      const answer = await client
        .evalsha(sha, keys.length, ...call)
        .catch(async (error: unknown) => {
          if (isMissingScript(error)) return client.eval(lua, keys.length, ...call);
          throw error;
        })
        .catch((error: unknown) => {
          throw redisError(error);
        });
      return reply.parse(answer);
    },
  };
}

function isMissingScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
