import { createHash } from 'node:crypto';
import type { BlobStore } from '../shared/blobs/blob-store.js';
import {
  makeSessionId,
  makeTurnId,
  sessionTag,
  type FileInput,
  type SessionId,
  type Tenant,
  type TurnId,
} from '../shared/contracts/index.js';
import { parseTurnRequest } from '../shared/contracts/parse-turn-request.js';
import type { TurnQueue } from '../shared/queue/turn-queue.js';
import { openSessionsKey, sessionKeys, turnKeys } from '../shared/redis/keys.js';
import { redisError, type RedisClient } from '../shared/redis/redis-client.js';
import { enqueueTurnScript } from '../shared/redis/scripts/enqueue-turn.js';
import type { StoredRequest } from '../shared/results/stored-request.js';

/** What `enqueue` answers once the turn is accepted. */
export interface EnqueuedTurn {
  readonly turnId: TurnId;
  readonly sessionId: SessionId;
  /** Place in the session's line, 1 for the one that may run. */
  readonly position: number;
}

export interface EnqueueContext {
  readonly client: RedisClient;
  readonly queue: TurnQueue;
  readonly blobs: BlobStore;
  readonly tenant: Tenant;
}

/** Large inputs do not go through Redis: this many bytes of a request's files do, all of them together. */
const inlineFilesBytes = 256 * 1024;

/** Checks, stores and queues one turn. @throws SkillmillError INPUT_INVALID, BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
export async function enqueueTurn(
  context: EnqueueContext,
  request: unknown,
): Promise<EnqueuedTurn> {
  const { client, queue, tenant } = context;
  const { sessionId: asked, files = [], ...rest } = parseTurnRequest(request);
  const sessionId = asked ?? makeSessionId();
  const turnId = makeTurnId(tenant, sessionId);
  const tag = sessionTag(tenant, sessionId);
  const stored: StoredRequest = { ...rest, files: await storeFiles(context.blobs, files) };

  // Before, so that the sweep finds the turn even if this process dies before the job is added.
  await markOpen(client, `${tenant}/${tag}`);
  const session = sessionKeys(tenant, tag);
  const turn = turnKeys(tenant, turnId);
  const position = await enqueueTurnScript.run(
    client,
    [
      session.session,
      session.line,
      turn.turn,
      turn.events,
      session.messages,
      session.skillState,
      session.artifacts,
      session.workspace,
    ],
    [turnId, sessionId, tenant, JSON.stringify(stored)],
  );
  // After, since a sweep in between may have taken the mark of a line that was still empty.
  await markOpen(client, `${tenant}/${tag}`);
  if (position === 1) await queue.add({ tenant, sessionId, turnId });
  return { turnId, sessionId, position };
}

async function markOpen(client: RedisClient, entry: string): Promise<void> {
  await client.sadd(openSessionsKey(), entry).catch((error: unknown) => {
    throw redisError(error);
  });
}

/** Files' bytes beside the request while they are few in all; the rest go to the blob store. What is elsewhere the worker fetches. */
async function storeFiles(
  blobs: BlobStore,
  files: readonly FileInput[],
): Promise<StoredRequest['files']> {
  let room = inlineFilesBytes;
  return Promise.all(
    files.map(async (file) => {
      if ('url' in file || 'artifact' in file) return file;
      const bytes =
        'content' in file ? Buffer.from(file.content, 'utf8') : Buffer.from(file.base64, 'base64');
      if (bytes.byteLength > room) return { path: file.path, ...(await blobs.put([bytes])) };
      room -= bytes.byteLength;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const base64 = bytes.toString('base64');
      return { path: file.path, sha256, sizeBytes: bytes.byteLength, base64 };
    }),
  );
}
