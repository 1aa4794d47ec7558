import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { openBlobStore } from '../shared/blobs/open-blob-store.js';
import type { Config, ExecutorConfig } from '../shared/config/config.js';
import type { OperatorConfig } from '../shared/config/operator-config.js';
import type { Logger } from '../shared/logging/logger.js';
import type { Redactor } from '../shared/logging/redactor.js';
import type { TurnQueue } from '../shared/queue/turn-queue.js';
import { turnKeys } from '../shared/redis/keys.js';
import type { RedisClient } from '../shared/redis/redis-client.js';
import type { SkillLock } from '../shared/skills/skill-lock.js';
import type { SkillRepository } from '../shared/skills/skill-repository.js';
import { createUsageLedger } from '../shared/usage/usage-ledger.js';
import { createDockerExecutor } from './executor/docker/docker-executor.js';
import type { Executor, OnServing } from './executor/executor.js';
import { createLocalExecutor } from './executor/local/local-executor.js';
import { createGatedModel } from './model/gated-model.js';
import type { Model } from './model/model.js';
import { createOpenAiModel } from './model/openai-model.js';
import { createNotedBlobStore } from './session/noted-blob-store.js';
import { openSkills } from './skills/open-skills.js';
import { SkillArchive } from './skills/skill-archive.js';
import type { SkillGate } from './skills/skill-gate.js';
import type { Toolbox } from './toolbox/toolbox.js';
import type { TurnDeps } from './turn/turn-deps.js';
import { SkillPacks } from './workspace/skill-packs.js';

/** A model call's time, and what its settlement may take: only a lost worker's call is still open then. */
const callSpareMs = 60_000;

/** A worker's own name: its host's, so that people find it, and a random part, so that it is the only one. */
export function makeWorkerId(): string {
  const host = hostname()
    .replace(/[^A-Za-z0-9-]/g, '-')
    .slice(0, 40);
  return `${host}-${randomUUID().slice(0, 8)}`;
}

/** Whom an executor serves, and who is told of it. */
export interface ExecutorParts {
  readonly owner: string;
  readonly deployment: string;
  readonly logger: Logger;
  readonly onServing: OnServing;
}

/** The executor that the configuration names. */
export function makeExecutor(
  config: ExecutorConfig,
  { owner, deployment, logger, onServing }: ExecutorParts,
): Executor {
  const log: Logger['log'] = (level, message, fields) => logger.log(level, message, fields);
  if (config.kind === 'local') {
    const path = config.basePath === undefined ? {} : { basePath: config.basePath };
    return createLocalExecutor({ owner, deployment, log, ...path });
  }
  return createDockerExecutor({
    owner,
    deployment,
    log,
    onServing,
    image: config.image,
    runtime: config.runtime,
    network: config.network,
    dockerHost: config.dockerHost,
    pool: config.pool,
    limits: {
      memoryBytes: config.memoryBytes,
      diskBytes: config.diskBytes,
      cpus: config.cpus,
      processes: config.processes,
    },
  });
}

export interface Parts {
  readonly workerId: string;
  readonly redis: RedisClient;
  readonly queue: TurnQueue;
  readonly executor: Executor;
  readonly repository: SkillRepository;
  readonly toolbox: Toolbox;
  /** What skills have to be when the roots are frozen. */
  readonly lock: SkillLock | undefined;
  readonly operator: OperatorConfig;
  readonly gate: SkillGate;
  readonly redact: Redactor;
  /** In place of the endpoint that the configuration names. */
  readonly model: Model | undefined;
  readonly handOver: TurnDeps['handOver'];
  readonly logger: Logger;
}

/** Fits the parts together for the turns; with startWorker the only place that knows them all. */
export function composeTurnDeps(config: Config, parts: Parts): TurnDeps {
  const { workerId, redis, queue, executor, handOver, logger } = parts;
  return {
    workerId,
    redis,
    queue,
    executor,
    packs: new SkillPacks(),
    archive: new SkillArchive(),
    snapshotLimits: config.worker.snapshots,
    handOver,
    logger,
    blobsOf: ({ tenant, turnId }) =>
      createNotedBlobStore(
        openBlobStore(redis, { ...config.store, tenant }),
        redis,
        turnKeys(tenant, turnId).blobs,
      ),
    model: createGatedModel(
      parts.model ?? createOpenAiModel(config.model, (text) => parts.redact.text(text)),
    ),
    modelConfig: config.model,
    defaultLimits: config.worker.limits,
    skillConfig: config.skills,
    inputConfig: config.inputs,
    toolbox: parts.toolbox,
    ledger: createUsageLedger(redis, {
      ...parts.operator,
      ...config.store,
      callLifetimeMs: config.model.timeoutMs + callSpareMs,
    }),
    waitReplicas: config.store.waitReplicas ?? 0,
    maxAttempts: config.worker.maxAttempts,
    maxWaits: config.worker.maxWaits,
    resultTtlSeconds: config.store.resultTtlSeconds,
    sessionTtlSeconds: config.store.sessionTtlSeconds,
    redact: parts.redact,
    openSkills: (turn) => openSkills(turn, parts),
  };
}
