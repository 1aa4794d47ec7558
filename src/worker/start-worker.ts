import type { BlobKeeper } from '../shared/blobs/blob-store.js';
import { blobPlace, openBlobKeeper } from '../shared/blobs/open-blob-store.js';
import { isSharedStore } from '../shared/blobs/shared-store-check.js';
import { checkWorkerConfig } from '../shared/config/check-worker-config.js';
import type { Config } from '../shared/config/config.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { readOperatorConfig, type OperatorConfig } from '../shared/config/operator-config.js';
import { createRedactor, type Redactor } from '../shared/logging/redactor.js';
import { createLogger, type Logger } from '../shared/logging/logger.js';
import { startTurnConsumer } from '../shared/queue/turn-consumer.js';
import { createTurnQueue, type TurnQueue } from '../shared/queue/turn-queue.js';
import {
  closeRedis,
  connectRedis,
  requireAnswer,
  requireRedis,
  type RedisClient,
} from '../shared/redis/redis-client.js';
import { deploymentId } from '../shared/redis/deployment.js';
import { readSkillLock, type SkillLock } from '../shared/skills/skill-lock.js';
import { openSkillRepository, type SkillRepository } from '../shared/skills/skill-repository.js';
import { checkPrices } from '../shared/usage/prices.js';
import { checkRedisPolicy } from './check-redis-policy.js';
import { composeTurnDeps, makeExecutor, makeWorkerId } from './compose.js';
import { dropMark } from './executor/output-cap.js';
import type { Executor } from './executor/executor.js';
import type { Model } from './model/model.js';
import { releaseAll } from './release-all.js';
import { repeat } from './repeat.js';
import { runSchedules } from './run-schedules.js';
import { reportSkills } from './skills/report-skills.js';
import { SandboxInventory } from './skills/sandbox-inventory.js';
import { createSkillGate, type SkillGate } from './skills/skill-gate.js';
import { sweepLinesEveryMs, sweepLinesInTurn } from './sweep-lines.js';
import { HandOver } from './turn/hand-over.js';
import { processTurn } from './turn/process-turn.js';
import { loadToolbox } from './toolbox/load-toolbox.js';
import { secretsOfServers } from './toolbox/mcp-spec.js';
import { openToolbox, type Toolbox } from './toolbox/toolbox.js';
import { createSandboxRegister, keepSandboxNotes } from './sandbox-register.js';
import { collectHourly } from './collect-hourly.js';
import { beat, isWorkerAlive, leave } from './worker-presence.js';

const beatEveryMs = 10_000;
const sweepSandboxesEveryMs = 60_000;
/** How often a worker looks whether this hour's garbage is collected. */
const lookForGarbageEveryMs = 600_000;

/** A running worker: running ──drain()──▶ draining ──▶ stopped. */
export interface RunningWorker {
  readonly workerId: string;
  /** Logs a fault that nobody awaited. */
  report(fault: unknown): void;
  /**
   * Takes no new turns, lets running ones finish within the grace time, hands the others over, and stops.
   * A second call hands over at once. Resolves when stopped.
   */
  drain(): Promise<void>;
}

/** What a worker is given in place of what its configuration names. */
export interface WorkerGiven {
  /** What the operator's config file would say. */
  readonly operator?: OperatorConfig;
  /** A model in this process. */
  readonly model?: Model;
}

/**
 * Starts a worker.
 * @throws SkillmillError CONFIG_INVALID, REDIS_UNAVAILABLE, SANDBOX_UNAVAILABLE, within 5 s and what MCP servers may take
 */
export async function startWorker(config: Config, given: WorkerGiven = {}): Promise<RunningWorker> {
  checkWorkerConfig(config);
  const { path, lookUp } = config.operator;
  const operator = given.operator ?? (await readOperatorConfig(path, lookUp));
  checkPrices(operator, config.model.models);
  const loaded = await loadToolbox(config.skills.toolboxPath);
  const secrets = [...secretsOf(config, operator), ...secretsOfServers(loaded.servers)];
  const redact = createRedactor(secrets, dropMark);
  const workerId = makeWorkerId();
  const logger = createLogger(config.logLevel, { worker: workerId }, redact);
  const redis = connectRedis(config.store.redisUrls, 'worker');
  const repository = openSkillRepository(config.skills.roots);
  let toolbox: Toolbox | undefined;
  try {
    await requireRedis(redis, config.store.redisUrls);
    await checkRedisPolicy(redis, config.worker, logger);
    // The first write: a Redis that is full is waited for later on, but not without a word at the start.
    const deployment = await requireAnswer(redis, config.store.redisUrls, deploymentId(redis));
    const onServing = createSandboxRegister(redis, workerId, (error) =>
      logger.log('warn', 'what a sandbox serves could not be noted', {
        reason: SkillmillError.from(error).message,
      }),
    );
    const parts = { owner: workerId, deployment, logger, onServing };
    const executor = makeExecutor(config.executor, parts);
    await executor.check();
    const lock = config.skills.frozen ? await readSkillLock(config.skills.lockPath) : undefined;
    const { skillEntries: entries } = operator;
    const log: Logger['log'] = (level, message, fields) => logger.log(level, message, fields);
    toolbox = await openToolbox(loaded, { log, redact, lookUp });
    const gate = createSkillGate({ entries, inventory: new SandboxInventory(executor), log });
    await reportSkills({ repository, gate, logger, operator });
    const blobs = openBlobKeeper(config.store);
    if (await isSharedStore(redis, blobs)) {
      await blobs.claim(deployment, 'first');
    } else {
      logger.log(
        'warn',
        'files over 256 KiB cannot be kept: this blob store cannot be used, or is not the one that this Redis knows',
        { store: blobPlace(config.store) },
      );
    }
    await beat(redis, workerId);
    const rest = { repository, operator, gate, lock, model: given.model };
    return run({ config, workerId, logger, redact, redis, blobs, executor, toolbox, ...rest });
  } catch (error) {
    const steps = [() => toolbox?.close(), () => repository.close(), () => closeRedis(redis)];
    await releaseAll(steps).catch(() => undefined); // what went wrong first is told
    throw error;
  }
}

interface WorkerParts {
  readonly config: Config;
  readonly workerId: string;
  readonly logger: Logger;
  readonly redis: RedisClient;
  readonly blobs: BlobKeeper;
  readonly executor: Executor;
  readonly repository: SkillRepository;
  readonly toolbox: Toolbox;
  readonly lock: SkillLock | undefined;
  readonly operator: OperatorConfig;
  readonly gate: SkillGate;
  readonly redact: Redactor;
  readonly model: Model | undefined;
}

/** What no log line, event or result may show. */
function secretsOf({ model, store }: Config, { skillEntries }: OperatorConfig): string[] {
  const ofSkills = [...skillEntries.values()].flatMap(({ env, apiKey }) => [
    ...Object.values(env),
    ...(apiKey === undefined ? [] : [apiKey]),
  ]);
  const { secretAccessKey, sessionToken } = store.s3?.credentials ?? {};
  const own = [model.apiKey, secretAccessKey, sessionToken];
  return [...ofSkills, ...own.filter((secret) => secret !== undefined)];
}

function run(parts: WorkerParts): RunningWorker {
  const { config, workerId, logger, redis, executor, repository } = parts;
  const queue = createTurnQueue(redis);
  const handOver = new HandOver();
  const deps = composeTurnDeps(config, { ...parts, queue, handOver });
  const consumer = startTurnConsumer({
    client: redis,
    concurrency: config.worker.concurrency,
    handler: (pointer) => processTurn(deps, pointer),
    logger,
  });
  const schedules = runSchedules({ redis, queue, store: config.store, logger });
  const chores = startChores(parts, queue);
  executor.warmUp();
  logger.log('info', 'worker started', {
    executor: executor.name,
    concurrency: config.worker.concurrency,
    models: config.model.models,
  });

  const stop = async () => {
    logger.log('info', 'draining: no new turns', { graceMs: config.worker.graceMs });
    const grace = setTimeout(() => handOver.begin(), config.worker.graceMs);
    try {
      await Promise.all([consumer.drain(), schedules.drain()]);
    } finally {
      clearTimeout(grace);
      handOver.dispose();
      await releaseAll([
        () => chores.stop(),
        () => executor.close(),
        () => leave(redis, workerId).catch(() => undefined),
        () => queue.close(),
        () => parts.toolbox.close(),
        () => repository.close(),
        () => closeRedis(redis),
        () => logger.log('info', 'worker stopped'),
      ]);
    }
  };
  let stopped: Promise<void> | undefined;
  return {
    workerId,
    report(fault) {
      const reason = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
      logger.log('error', 'a fault that nobody awaited', { reason });
    },
    drain() {
      if (stopped !== undefined) handOver.force();
      return (stopped ??= stop());
    },
  };
}

/** Keeps up what others read of this worker: that it lives, and which blob store is in use. */
async function signOfLife({ redis, workerId, blobs }: WorkerParts): Promise<void> {
  await beat(redis, workerId);
  await keepSandboxNotes(redis, workerId);
  await isSharedStore(redis, blobs);
}

/** What a worker does beside its turns. */
function startChores(parts: WorkerParts, queue: TurnQueue): { stop: () => Promise<void> } {
  const { config, redis, executor, logger, workerId } = parts;
  const stop = new AbortController();
  const tell = (chore: string) => (error: unknown) =>
    logger.log('warn', `${chore} failed`, { reason: SkillmillError.from(error).message });
  const chores = [
    repeat(beatEveryMs, stop.signal, () => signOfLife(parts), tell('sign of life')),
    repeat(
      sweepLinesEveryMs,
      stop.signal,
      () => sweepLinesInTurn(redis, queue, { workerId, onFault: tell('sweep of a line') }),
      tell('sweep of lines'),
    ),
    repeat(
      sweepSandboxesEveryMs,
      stop.signal,
      () => executor.sweep((owner) => isWorkerAlive(redis, owner)),
      tell('sweep of sandboxes'),
    ),
    repeat(
      lookForGarbageEveryMs,
      stop.signal,
      () => collectHourly({ ...parts, store: config.store }, stop.signal),
      tell('collection of garbage'),
    ),
  ];
  return {
    async stop() {
      stop.abort();
      await Promise.all(chores);
    },
  };
}
