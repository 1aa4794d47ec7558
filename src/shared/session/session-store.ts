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
import type { RedisClient } from '../redis/redis-client.js';
import { readSessionScript } from '../redis/scripts/read-session.js';
import type { StoredSession } from '../redis/scripts/session-lua.js';

/** Reads all that is kept of a session, as of one moment. @throws SkillmillError REDIS_UNAVAILABLE */
export async function readSession(
  client: RedisClient,
  tenant: Tenant,
  sessionId: SessionId,
): Promise<Session> {
  const keys = sessionKeys(tenant, sessionTag(tenant, sessionId));
  const stored = await readSessionScript.run(
    client,
    [keys.messages, keys.skillState, keys.artifacts, keys.workspace],
    [],
  );
  return sessionOf(stored);
}

/** What Redis keeps of a session as its contract. @throws SkillmillError INTERNAL for what another version wrote */
export function sessionOf({ messages, skillState, artifacts, workspace }: StoredSession): Session {
  return {
    messages: messages.map((text) => parseStored(messageSchema, text)),
    skillState,
    artifacts: artifacts.map((text) => parseStored(artifactSchema, text)),
    workspace: workspace === undefined ? undefined : parseStored(workspaceVersionSchema, workspace),
  };
}
