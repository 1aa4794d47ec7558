import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBlobKeeper, openBlobStore } from '../shared/blobs/open-blob-store.js';
import { loadConfig } from '../shared/config/load-config.js';
import type { StoreConfig } from '../shared/config/config.js';
import {
  isFinalEvent,
  turnIdSchema,
  type Artifact,
  type TurnEvent,
  type TurnId,
  type TurnRequestInput,
  type TurnResult,
} from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { collectHere, type CollectChoice } from '../shared/garbage/collect-here.js';
import type { GarbageReport } from '../shared/garbage/garbage-count.js';
import { createTurnQueue } from '../shared/queue/turn-queue.js';
import { closeRedis, connectRedis, requireRedis } from '../shared/redis/redis-client.js';
import { readTurn } from '../shared/results/turn-store.js';
import type { CancelOutcome } from '../shared/turns/cancel-turn.js';
import { enqueueTurn, type EnqueuedTurn } from '../shared/turns/enqueue-turn.js';
import { openLine } from '../shared/turns/open-line.js';
import { readUsage, type UsageQuery, type UsageReport } from '../shared/usage/usage-report.js';
import { retryTurn } from './retry-turn.js';
import { followTurn, type FollowOptions } from './follow-turn.js';
import { openArtifacts, type SessionArtifacts } from './session-artifacts.js';
import { openSchedules, type Schedules } from './schedules.js';
import { openSession, type SessionContext, type SessionHandle } from './session-handle.js';

const closeWithinMs = 500;

/** What is not given is taken from the environment (see the table of variables). */
export interface ClientOptions {
  /** `redis://` or `rediss://`; several nodes of a cluster, comma-separated. */
  readonly redisUrl?: string;
  readonly tenant?: string;
  /** Folder for files over 256 KiB; the one that the workers use. */
  readonly dataDir?: string;
}

/** The SDK: put turns in, follow them, get results and files out. Close it, or use `await using`. */
export interface Client extends AsyncDisposable {
  /** Accepts one turn. @throws SkillmillError INPUT_INVALID, SESSION_BUSY, BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
  enqueue(turn: TurnRequestInput): Promise<EnqueuedTurn>;
  /**
   * The turn's result, waiting for it at most `waitMs` (default: as long as it takes).
   * @throws SkillmillError TURN_NOT_FOUND, TURN_NOT_FINISHED, REDIS_UNAVAILABLE
   */
  result(turnId: string, options?: { readonly waitMs?: number }): Promise<TurnResult>;
  /** The turn's events in order, up to and with the final one. @throws SkillmillError TURN_NOT_FOUND, REDIS_UNAVAILABLE */
  events(turnId: string, options?: FollowOptions): AsyncGenerator<TurnEvent, void, undefined>;
  /**
   * Tries a failed or cancelled turn again, as a new turn of its session; where nothing of the session has come after it, from where
   * it was. @throws SkillmillError TURN_NOT_FOUND, TURN_NOT_FINISHED, INPUT_INVALID, REDIS_UNAVAILABLE
   */
  retry(turnId: string): Promise<EnqueuedTurn>;
  /** Ends a turn that waits; tells the worker of one that runs. @throws SkillmillError TURN_NOT_FOUND, REDIS_UNAVAILABLE */
  cancel(turnId: string): Promise<CancelOutcome>;
  /** An artifact's bytes. @throws SkillmillError BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
  openArtifact(artifact: Pick<Artifact, 'sha256'>): Promise<Readable>;
  /** The artifacts of a session. @throws SkillmillError INPUT_INVALID */
  artifacts(sessionId: string): SessionArtifacts;
  /** What is kept of a session. @throws SkillmillError INPUT_INVALID */
  session(sessionId: string): SessionHandle;
  /** Turns that repeat by cron. */
  readonly schedules: Schedules;
  /** What was used, by model unless asked otherwise. @throws SkillmillError INPUT_INVALID, REDIS_UNAVAILABLE */
  usage(query?: UsageQuery): Promise<UsageReport>;
  /**
   * Removes the stored files of all tenants that nothing refers to.
   * @throws SkillmillError REDIS_UNAVAILABLE, BLOB_UNAVAILABLE; INTERNAL for a record that cannot be understood
   */
  collectGarbage(choice?: CollectChoice): Promise<GarbageReport>;
  /** Ends the client's connections, and whatever still follows a turn; idempotent. */
  close(): Promise<void>;
}

/** Opens a client, which connects in the background. @throws SkillmillError CONFIG_INVALID */
export function createClient(options: ClientOptions = {}): Client {
  const { store } = loadConfig({
    REDIS_URL: options.redisUrl,
    SKILLMILL_TENANT: options.tenant,
    SKILLMILL_DATA_DIR: options.dataDir,
  });
  return openClient(store);
}

function openClient(config: StoreConfig): Client {
  const { redisUrls, tenant } = config;
  const redis = connectRedis(redisUrls, 'client');
  const queue = createTurnQueue(redis);
  const blobs = openBlobStore(redis, config);
  const keeper = openBlobKeeper(config);
  const line = openLine(redis, queue, config);
  const closing = new AbortController();
  const ready = askOnce(() => requireRedis(redis, redisUrls));
  const known = async (turnId: string) => {
    const id = parseTurnId(turnId);
    await ready();
    return id;
  };
  let closed: Promise<void> | undefined;

  const { sessionTtlSeconds } = config;
  const sessions: SessionContext = { client: redis, ready, tenant, blobs, sessionTtlSeconds };
  const schedules = openSchedules({ client: redis, ready, tenant });
  const client: Client = {
    async enqueue(turn) {
      await ready();
      return enqueueTurn(line, turn);
    },
    async result(turnId, { waitMs } = {}) {
      const id = await known(turnId);
      const { result } = await readTurn(redis, tenant, id);
      if (result !== undefined) return result;
      if (waitMs === 0) throw notFinished(id);
      const timeout = waitMs === undefined ? [] : [AbortSignal.timeout(waitMs)];
      const signal = AbortSignal.any([closing.signal, ...timeout]);
      return awaitResult(followTurn(redisUrls, tenant, id, { signal }), id);
    },
    async *events(turnId, follow = {}) {
      const id = await known(turnId);
      const own = follow.signal === undefined ? [] : [follow.signal];
      const signal = AbortSignal.any([closing.signal, ...own]);
      yield* followTurn(redisUrls, tenant, id, { ...follow, signal });
    },
    retry: (turnId) => known(turnId).then((id) => retryTurn(line, id)),
    cancel: (turnId) => known(turnId).then(line.interrupt),
    async openArtifact(artifact) {
      await ready();
      return blobs.open(artifact.sha256);
    },
    artifacts: (sessionId) => openArtifacts(sessions, keeper, sessionId),
    session: (sessionId) => openSession(sessions, sessionId),
    schedules,
    usage: (query = {}) => ready().then(() => readUsage(redis, tenant, query)),
    collectGarbage: (choice = {}) => ready().then(() => collectHere(redis, config, choice)),
    close() {
      closing.abort();
      return (closed ??= farewell([queue, schedules]).then(() => closeRedis(redis)));
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
  return client;
}

/** The first call finds out whether Redis is there, within 5 s; a failure is asked again next time. */
function askOnce(ask: () => Promise<void>): () => Promise<void> {
  let answer: Promise<void> | undefined;
  return () =>
    (answer ??= ask().catch((error: unknown) => {
      answer = undefined;
      throw error;
    }));
}

/** A Redis that does not answer must not keep the caller waiting for a farewell. */
async function farewell(queues: readonly { close(): Promise<void> }[]): Promise<void> {
  const closed = Promise.all(queues.map((queue) => queue.close()));
  await Promise.race([closed, sleep(closeWithinMs, undefined, { ref: false })]);
}

async function awaitResult(events: AsyncIterable<TurnEvent>, turnId: TurnId): Promise<TurnResult> {
  for await (const event of events) if (isFinalEvent(event)) return event.result;
  throw notFinished(turnId);
}

function notFinished(turnId: TurnId): SkillmillError {
  return new SkillmillError(
    'TURN_NOT_FINISHED',
    `Turn ${turnId} has no result yet. Wait for it (--wait, or a longer waitMs), or ask again later.`,
  );
}

function parseTurnId(text: string): TurnId {
  const parsed = turnIdSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new SkillmillError(
    'INPUT_INVALID',
    `${JSON.stringify(text.slice(0, 100))} is no turn id; \`enqueue\` prints one, such as turn_<16 characters>_<20 characters>.`,
  );
}
