import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Tenant } from '../contracts/index.js';
import type { Environment } from './env-schema.js';
import { inputSlice, type InputConfig } from './input-config.js';
import { s3Slice, type S3Config } from './s3-config.js';

/** Bytes. */
export const mebibyte = 1024 * 1024;
/** Files, folders and links of a session's workspace: the list of them is read and written as one. */
const snapshotEntries = 100_000;
/** What commands need beside the files: processes, /tmp. */
export const sandboxRoomBytes = 48 * mebibyte;

/** Where Redis is and how long things are kept there. */
export interface StoreConfig {
  readonly redisUrls: readonly string[];
  /** Replicas that must have an accepted turn and a result; none when it is not said. */
  readonly waitReplicas?: number;
  readonly tenant: Tenant;
  readonly resultTtlSeconds: number;
  readonly sessionTtlSeconds: number;
  /** How long what nothing refers to is left alone; an hour when it is not said. */
  readonly gcGraceSeconds?: number;
  /** Folder for files over the size that Redis takes. */
  readonly dataDir: string;
  /** The bucket that takes them instead. */
  readonly s3?: S3Config | undefined;
}

export interface ModelConfig {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** In the order in which they are tried; empty when none is named. */
  readonly models: readonly string[];
  /** How long one call may take. */
  readonly timeoutMs: number;
  /** How long a stream may say nothing. */
  readonly idleTimeoutMs: number;
  readonly stream: boolean;
  /** The model's window in tokens; 0 when it is not known. */
  readonly contextTokens: number;
  /** What happens to turns that no longer fit: they are dropped, or summarised by the model. */
  readonly contextOverflow: 'drop' | 'summarize';
}

export interface ExecutorConfig {
  readonly kind: 'docker' | 'local';
  readonly image: string;
  readonly dockerHost: string;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly cpus: number;
  readonly processes: number;
  /** How many sandboxes are kept ready, how many are made at a time, and how long one may wait. */
  readonly pool: { readonly size: number; readonly refill: number; readonly maxAgeMs: number };
  /** The engine's own when absent. */
  readonly runtime: string | undefined;
  /** `none`, or the name of one of the engine's networks. */
  readonly network: string;
  /** PATH for commands of the local executor. */
  readonly basePath: string | undefined;
}

/** What the operator allows to `skill_run`. */
export interface SkillRunConfig {
  /** Programs; undefined allows all but the denied ones. When either list is set commands run without a shell. */
  readonly allowedCommands: readonly string[] | undefined;
  readonly deniedCommands: readonly string[] | undefined;
  /** Folders of this machine that `host://` inputs may come from. */
  readonly hostInputs: readonly string[];
}

/** How skills reach the model. */
export interface SkillConfig {
  readonly roots: readonly string[];
  /** Is a skill refused that is not as `lockPath` says? */
  readonly frozen: boolean;
  readonly lockPath: string;
  readonly mode: 'turn' | 'session' | 'once';
  readonly content: 'tool' | 'system';
  readonly profile: 'full' | 'knowledge_only';
  /** 0 is no limit. */
  readonly maxLoaded: number;
  readonly overviewTokens: number;
  readonly bodyTokens: number;
  readonly docTokens: number;
  readonly toolboxPath: string | undefined;
  readonly exposure: 'native' | 'dispatch';
  readonly run: SkillRunConfig;
}

/** What holds for a turn that sets no limits of its own. */
export interface DefaultLimits {
  readonly turnTimeoutMs: number;
  readonly maxModelCalls: number;
  readonly maxToolCalls: number;
  /** One more model call, without tools, when the model calls are used up. */
  readonly lastChance: boolean;
}

export interface WorkerConfig {
  readonly concurrency: number;
  readonly graceMs: number;
  readonly maxAttempts: number;
  readonly maxWaits: number;
  /** Is a Redis that may throw keys away put up with? */
  readonly allowEviction: boolean;
  readonly limits: DefaultLimits;
  /** What a session's workspace may hold from turn to turn. */
  readonly snapshots: { readonly bytes: number; readonly entries: number };
}

/** Where the operator's config file is, and the variables that it may refer to. */
export interface OperatorFile {
  /** Undefined: a file of the usual name, if there is one. */
  readonly path: string | undefined;
  readonly lookUp: (variable: string) => string | undefined;
}

/** Everything that is set from outside, in the slices that are handed out. */
export interface Config {
  readonly store: StoreConfig;
  readonly model: ModelConfig;
  readonly executor: ExecutorConfig;
  readonly skills: SkillConfig;
  readonly inputs: InputConfig;
  readonly worker: WorkerConfig;
  readonly operator: OperatorFile;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** The environment, once checked, as slices. */
export function sliceEnvironment(
  env: Environment,
  raw: Readonly<Record<string, string | undefined>>,
): Config {
  return {
    store: storeSlice(env, raw),
    model: {
      baseUrl: env.OPENAI_BASE_URL,
      apiKey: env.OPENAI_API_KEY,
      models: env.OPENAI_MODEL ?? [],
      timeoutMs: env.SKILLMILL_MODEL_TIMEOUT * 1000,
      idleTimeoutMs: env.SKILLMILL_MODEL_IDLE_TIMEOUT * 1000,
      stream: env.SKILLMILL_STREAM,
      contextTokens: env.SKILLMILL_CONTEXT_TOKENS,
      contextOverflow: env.SKILLMILL_CONTEXT_OVERFLOW,
    },
    executor: executorSlice(env, raw),
    skills: skillSlice(env),
    inputs: inputSlice(env),
    worker: {
      concurrency: env.SKILLMILL_CONCURRENCY,
      graceMs: env.SKILLMILL_SHUTDOWN_GRACE * 1000,
      maxAttempts: env.SKILLMILL_MAX_ATTEMPTS,
      maxWaits: env.SKILLMILL_MAX_WAITS,
      allowEviction: env.SKILLMILL_ALLOW_EVICTION,
      limits: {
        turnTimeoutMs: env.SKILLMILL_TURN_TIMEOUT * 1000,
        maxModelCalls: env.SKILLMILL_MAX_MODEL_CALLS,
        maxToolCalls: env.SKILLMILL_MAX_TOOL_CALLS,
        lastChance: env.SKILLMILL_LAST_CHANCE,
      },
      snapshots: { bytes: env.SKILLMILL_WORKSPACE_MAX_MB * mebibyte, entries: snapshotEntries },
    },
    operator: {
      path: env.SKILLMILL_CONFIG,
      lookUp: (name) => (Object.hasOwn(raw, name) ? raw[name] : undefined),
    },
    logLevel: env.SKILLMILL_LOG_LEVEL,
  };
}

function storeSlice(
  env: Environment,
  raw: Readonly<Record<string, string | undefined>>,
): StoreConfig {
  const dataHome = raw['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share');
  return {
    redisUrls: env.REDIS_URL,
    waitReplicas: env.SKILLMILL_WAIT_REPLICAS,
    tenant: env.SKILLMILL_TENANT,
    resultTtlSeconds: env.SKILLMILL_RESULT_TTL,
    sessionTtlSeconds: env.SKILLMILL_SESSION_TTL,
    gcGraceSeconds: env.SKILLMILL_GC_GRACE,
    dataDir: env.SKILLMILL_DATA_DIR ?? join(dataHome, 'skillmill'),
    s3: s3Slice(env),
  };
}

function skillSlice(env: Environment): SkillConfig {
  return {
    roots: env.SKILLS_ROOT,
    frozen: env.SKILLMILL_SKILLS_FROZEN,
    lockPath: env.SKILLMILL_SKILLS_LOCK,
    mode: env.SKILLMILL_SKILL_MODE,
    content: env.SKILLMILL_SKILL_CONTENT,
    profile: env.SKILLMILL_SKILL_PROFILE,
    maxLoaded: env.SKILLMILL_MAX_LOADED_SKILLS,
    overviewTokens: env.SKILLMILL_OVERVIEW_TOKENS,
    bodyTokens: env.SKILLMILL_SKILL_BODY_TOKENS,
    docTokens: env.SKILLMILL_SKILL_DOC_TOKENS,
    toolboxPath: env.SKILLMILL_TOOLBOX,
    exposure: env.SKILLMILL_TOOL_EXPOSURE,
    run: {
      allowedCommands: env.SKILLMILL_ALLOWED_COMMANDS,
      deniedCommands: env.SKILLMILL_DENIED_COMMANDS,
      hostInputs: env.SKILLMILL_HOST_INPUTS ?? [],
    },
  };
}

function executorSlice(
  env: Environment,
  raw: Readonly<Record<string, string | undefined>>,
): ExecutorConfig {
  return {
    kind: env.SKILLMILL_EXECUTOR,
    image: env.SKILLMILL_IMAGE,
    dockerHost: env.DOCKER_HOST,
    memoryBytes: env.SKILLMILL_SANDBOX_MEMORY_MB * mebibyte,
    diskBytes: env.SKILLMILL_SANDBOX_DISK_MB * mebibyte,
    cpus: env.SKILLMILL_SANDBOX_CPUS,
    processes: env.SKILLMILL_SANDBOX_PROCESSES,
    pool: {
      size: env.SKILLMILL_POOL_SIZE ?? 2 * env.SKILLMILL_CONCURRENCY,
      refill: env.SKILLMILL_POOL_REFILL,
      maxAgeMs: env.SKILLMILL_POOL_MAX_AGE * 1000,
    },
    runtime: env.SKILLMILL_RUNTIME,
    network: env.SKILLMILL_NETWORK,
    basePath: raw['PATH'],
  };
}
