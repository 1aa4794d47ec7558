import type { BlobStore } from '../blobs/blob-store.js';
import {
  makeSessionId,
  makeTurnId,
  priorities,
  sessionIdOfKey,
  sessionTag,
  type SessionId,
  type Tenant,
  type TurnId,
  type TurnRequest,
} from '../contracts/index.js';
import { parseTurnRequest } from '../contracts/parse-turn-request.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import type { TurnQueue } from '../queue/turn-queue.js';
import {
  openSessionsKey,
  sessionKeys,
  turnBudgetKeys,
  turnKeys,
  type TurnKeys,
} from '../redis/keys.js';
import { confirmReplicas } from '../redis/confirm-replicas.js';
import type { RedisClient } from '../redis/redis-client.js';
import { enqueueTurnScript } from '../redis/scripts/enqueue-turn.js';
import { markSessionScript } from '../redis/scripts/mark-session.js';
import { sessionTurnKeys } from '../redis/scripts/session-turn-keys.js';
import type { StoredRequest } from '../results/stored-request.js';
import { storeFiles } from './store-files.js';

/** What `enqueue` answers once the turn is accepted. */
export interface EnqueuedTurn {
  readonly turnId: TurnId;
  readonly sessionId: SessionId;
  /** Place in the session's line, 1 for the one that may run; 0 for one that is not in it (delayed, joining another, or over). */
  readonly position: number;
  /** The turn was known already, by its idempotency key: nothing was enqueued. */
  readonly isKnown: boolean;
}

export interface EnqueueContext {
  readonly client: RedisClient;
  readonly queue: TurnQueue;
  readonly blobs: BlobStore;
  readonly tenant: Tenant;
  /** Ends the running turn that makes way for one with `onBusy: interrupt`. */
  readonly interrupt: (turnId: TurnId) => Promise<unknown>;
  readonly config: { readonly waitReplicas?: number };
}

/** A turn as the line takes it. */
export interface NewTurn {
  readonly turnId: TurnId;
  readonly sessionId: SessionId;
  readonly request: StoredRequest;
  readonly retryOf?: TurnId;
}

/** Checks, stores and queues one turn. @throws SkillmillError INPUT_INVALID, SESSION_BUSY, BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
export async function enqueueTurn(
  context: EnqueueContext,
  request: unknown,
): Promise<EnqueuedTurn> {
  const { tenant, blobs } = context;
  const { sessionId: asked, files = [], ...rest } = parseTurnRequest(request);
  const { idempotencyKey: key } = rest;
  const sessionId = asked ?? (key === undefined ? makeSessionId() : sessionIdOfKey(tenant, key));
  const turnId = makeTurnId(tenant, sessionId, key === undefined ? undefined : `key ${key}`);
  const stored = { ...rest, files: await storeFiles(blobs, files) };
  return addTurn(context, { turnId, sessionId, request: stored });
}

/** Puts a turn into its session's line, and gives it a job when it is the one that may run. @throws SkillmillError SESSION_BUSY, REDIS_UNAVAILABLE */
export async function addTurn(context: EnqueueContext, turn: NewTurn): Promise<EnqueuedTurn> {
  const { queue, tenant, interrupt } = context;
  const { turnId, sessionId, request } = turn;
  const { outcome, position, dueAt, makeWay } = await acceptTurn(context, turn);
  if (outcome === 'busy') throw busy(sessionId);
  const { delayMs = 0 } = request;
  const pointer = { tenant, sessionId, turnId };
  // The sweep does this too, should this process die right here.
  if (position === 1) await queue.add(pointer, { priority: priorityOf(request) });
  else if (dueAt > 0) await queue.add(pointer, { priority: priorityOf(request), delayMs });
  // The turn is accepted, and the running one's worker will be told all the same.
  if (makeWay !== undefined) await interrupt(makeWay).catch(() => undefined);
  return { turnId, sessionId, position, isKnown: outcome === 'known' };
}

async function acceptTurn({ client, tenant, config }: EnqueueContext, turn: NewTurn) {
  const { turnId, sessionId, request, retryOf } = turn;
  const tag = sessionTag(tenant, sessionId);
  const keys = { ...sessionKeys(tenant, tag), ...turnKeys(tenant, turnId) };
  const budget = turnBudgetKeys(tenant, turnId);
  const ofEnded = retryOf === undefined ? [] : endedKeys(turnKeys(tenant, retryOf));
  for (;;) {
    // Before, so that the sweep finds the turn even if this process dies before the job is added.
    const markedAt = await markSessionScript.run(client, [openSessionsKey()], [`${tenant}/${tag}`]);
    const reply = await enqueueTurnScript.run(
      client,
      [...sessionTurnKeys(keys), budget.spent, budget.calls, ...ofEnded],
      [
        ...[turnId, sessionId, tenant, JSON.stringify(request), priorityOf(request)],
        ...[request.delayMs ?? 0, onBusyOf(request), markedAt, retryOf ?? ''],
      ],
    );
    const { outcome } = reply;
    // This process slept so long that its mark may be gone.
    if (outcome === 'stale') continue;
    await confirmReplicas(client, keys.turn, { replicas: config.waitReplicas ?? 0 });
    return { ...reply, outcome };
  }
}

function endedKeys({ turn, journal, blobs }: TurnKeys): string[] {
  return [turn, journal, blobs];
}

/** 0 high, 1 normal, 2 low. */
function priorityOf({ priority = 'normal' }: Pick<TurnRequest, 'priority'>): number {
  return priorities.indexOf(priority);
}

const ofMessageAlone = new Set([
  'input',
  'files',
  'onBusy',
  'idempotencyKey',
  'priority',
  'metadata',
]);

/** A message that brings files, skills or settings of its own cannot join a turn that runs without them: it waits. */
function onBusyOf(request: StoredRequest): string {
  const { onBusy = 'queue', files } = request;
  if (onBusy !== 'steer') return onBusy;
  const isMessage =
    files.length === 0 && Object.keys(request).every((key) => ofMessageAlone.has(key));
  return isMessage ? 'steer' : 'queue';
}

function busy(sessionId: SessionId): SkillmillError {
  return new SkillmillError(
    'SESSION_BUSY',
    `Session ${sessionId} has a turn that waits or runs, and onBusy is reject. Try again when it is over, or use queue, interrupt or steer.`,
  );
}
