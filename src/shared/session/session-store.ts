import { z } from 'zod';
import {
  artifactSchema,
  messageSchema,
  sessionTag,
  workspaceVersionSchema,
  type Session,
  type SessionId,
  type Tenant,
} from '../contracts/index.js';
import { sessionKeys } from '../redis/keys.js';
import { parseStored } from '../redis/parse-stored.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';

const replies = z.tuple([
  z.tuple([z.null(), z.array(z.string())]),
  z.tuple([z.null(), z.record(z.string(), z.string())]),
  z.tuple([z.null(), z.array(z.string())]),
  z.tuple([z.null(), z.string().nullable()]),
]);

/** Reads all that is kept of a session, as of one moment. @throws SkillmillError REDIS_UNAVAILABLE */
export async function readSession(
  client: RedisClient,
  tenant: Tenant,
  sessionId: SessionId,
): Promise<Session> {
  const keys = sessionKeys(tenant, sessionTag(tenant, sessionId));
  const answer = await client
    .multi()
    .lrange(keys.messages, 0, -1)
    .hgetall(keys.skillState)
    .lrange(keys.artifacts, 0, -1)
    .get(keys.workspace)
    .exec()
    .catch((error: unknown) => {
      throw redisError(error);
    });
  const [[, messages], [, skillState], [, artifacts], [, workspace]] = replies.parse(answer);
  return {
    messages: messages.map((text) => parseStored(messageSchema, text)),
    skillState,
    artifacts: artifacts.map((text) => parseStored(artifactSchema, text)),
    workspace: workspace === null ? undefined : parseStored(workspaceVersionSchema, workspace),
  };
}
