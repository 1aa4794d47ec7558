import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../shared/blobs/blob-store.js';
import {
  sessionIdSchema,
  sessionTag,
  type Artifact,
  type Message,
  type Session,
  type SessionId,
  type Tenant,
} from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { sessionKeys } from '../shared/redis/keys.js';
import { redisError, type RedisClient } from '../shared/redis/redis-client.js';
import { resetSessionScript } from '../shared/redis/scripts/reset-session.js';
import { readSession } from '../shared/session/session-store.js';
import { decodeManifest } from '../shared/session/workspace-manifest.js';

/** One file, folder or link of a session's workspace. */
export interface WorkspaceFile {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  readonly sizeBytes: number;
}

/** What is kept of a session, as of one moment. */
export interface SessionView {
  readonly sessionId: string;
  readonly messages: readonly Message[];
  /** Skills that the session's next turn finds loaded. */
  readonly skills: readonly string[];
  readonly artifacts: readonly Artifact[];
  /** The files that the next turn finds; null as long as no turn has left any. */
  readonly workspace: {
    readonly version: number;
    readonly files: readonly WorkspaceFile[];
  } | null;
}

/** A session from outside; each method @throws SkillmillError SESSION_NOT_FOUND, REDIS_UNAVAILABLE */
export interface SessionHandle {
  /** All of it. */
  show(): Promise<SessionView>;
  messages(): Promise<readonly Message[]>;
  /** The files that the next turn finds in its workspace. */
  files(): Promise<readonly WorkspaceFile[]>;
  /** Forgets messages, skills, artifacts and files. @throws SkillmillError SESSION_BUSY while it has a turn without a result */
  reset(): Promise<void>;
}

/** What reading sessions takes. */
export interface SessionContext {
  readonly client: RedisClient;
  readonly ready: () => Promise<void>;
  readonly tenant: Tenant;
  readonly blobs: BlobStore;
  readonly sessionTtlSeconds: number;
}

const loadedPrefix = 'temp:skill:loaded:';

/** A session by its id. @throws SkillmillError INPUT_INVALID */
export function openSession(context: SessionContext, id: string): SessionHandle {
  const sessionId = parseSessionId(id);
  const read = () => readKnownSession(context, sessionId);
  return {
    async show() {
      const session = await read();
      const { messages, artifacts, skillState, workspace } = session;
      const skills = Object.keys(skillState)
        .filter((field) => field.startsWith(loadedPrefix))
        .map((field) => field.slice(loadedPrefix.length));
      const files = await filesOf(context.blobs, session);
      return {
        ...{ sessionId, messages, skills, artifacts },
        workspace: workspace === undefined ? null : { version: workspace.version, files },
      };
    },
    messages: async () => (await read()).messages,
    files: async () => filesOf(context.blobs, await read()),
    reset: () => resetSession(context, sessionId),
  };
}

/** What is kept of a session that there is. @throws SkillmillError SESSION_NOT_FOUND, REDIS_UNAVAILABLE */
export async function readKnownSession(
  { client, ready, tenant }: SessionContext,
  sessionId: SessionId,
): Promise<Session> {
  await ready();
  const { session } = sessionKeys(tenant, sessionTag(tenant, sessionId));
  const known = await client.exists(session).catch((error: unknown) => {
    throw redisError(error);
  });
  if (known === 0) throw notFound(sessionId);
  return readSession(client, tenant, sessionId);
}

/** @throws SkillmillError INPUT_INVALID */
export function parseSessionId(id: string): SessionId {
  const parsed = sessionIdSchema.safeParse(id);
  if (parsed.success) return parsed.data;
  const shown = JSON.stringify(id.slice(0, 100));
  const sentence = `${shown} is no session id, which is 1 to 128 characters of A-Z a-z 0-9 . _ -`;
  throw new SkillmillError('INPUT_INVALID', sentence);
}

async function filesOf(blobs: BlobStore, { workspace }: Session): Promise<WorkspaceFile[]> {
  if (workspace === undefined) return [];
  const { entries } = await decodeManifest(await buffer(await blobs.open(workspace.manifest)));
  return entries.map((entry) => ({
    path: entry.path,
    kind: entry.kind,
    sizeBytes: entry.kind === 'file' ? entry.sizeBytes : 0,
  }));
}

async function resetSession(context: SessionContext, sessionId: SessionId): Promise<void> {
  const { client, ready, tenant, sessionTtlSeconds } = context;
  await ready();
  const keys = sessionKeys(tenant, sessionTag(tenant, sessionId));
  const outcome = await resetSessionScript.run(
    client,
    [
      keys.session,
      keys.line,
      keys.delayed,
      keys.messages,
      keys.skillState,
      keys.artifacts,
      keys.workspace,
    ],
    [sessionTtlSeconds],
  );
  if (outcome === 'unknown') throw notFound(sessionId);
  if (outcome === 'busy') {
    const sentence = `The session ${sessionId} has a turn without a result. Wait for it or cancel it, then reset the session.`;
    throw new SkillmillError('SESSION_BUSY', sentence);
  }
}

function notFound(sessionId: SessionId): SkillmillError {
  return new SkillmillError(
    'SESSION_NOT_FOUND',
    `No session ${sessionId} is known to this Redis and tenant; it never had a turn here, or it has expired.`,
  );
}
