import { z } from 'zod';
import { redisError, type RedisClient } from '../redis/redis-client.js';

/** How long an answer holds; in between this process' own clock carries it on. */
const askAgainMs = 60_000;

const timeReply = z.tuple([z.coerce.number(), z.coerce.number()]);

/** Redis' own clock (ms since 1970), so that no host's clock decides on what day a call counts. Throws SkillmillError REDIS_UNAVAILABLE. */
export function createRedisClock(client: RedisClient): () => Promise<number> {
  let answer: { readonly now: number; readonly at: number } | undefined;
  return async () => {
    if (answer === undefined || performance.now() - answer.at > askAgainMs) {
      const now = await ask(client);
      answer = { now, at: performance.now() };
    }
    return Math.floor(answer.now + performance.now() - answer.at);
  };
}

async function ask(client: RedisClient): Promise<number> {
  const reply = await client.time().catch((error: unknown) => {
    throw redisError(error);
  });
  const [seconds, micros] = timeReply.parse(reply);
  return seconds * 1000 + Math.floor(micros / 1000);
}
