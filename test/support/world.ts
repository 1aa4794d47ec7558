import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startScriptedModel, type Step } from '../../examples/scripted-model.js';
import {
  cli,
  projectDir,
  startCli,
  startWorkerProcess,
  type CliOutcome,
  type Env,
  type WorkerProcess,
} from './cli.js';
import { containersOf, engineAnswers } from './docker.js';
import { eventually } from './eventually.js';
import { startRedisContainer, startRedis, type TestRedis } from './redis-server.js';

/** All that an end-to-end test needs, each part real: Redis, a model server, workers and clients as processes. */
export interface World {
  readonly env: Env;
  readonly redis: Redis;
  readonly model: Awaited<ReturnType<typeof startScriptedModel>>;
  readonly executor: 'docker' | 'local';
  /** Says what the model does in turns whose message begins with this text. */
  script(beginning: string, steps: Step[]): void;
  worker(env?: Env): Promise<WorkerProcess>;
  run(args: readonly string[], env?: Env): Promise<CliOutcome>;
  start(args: readonly string[], env?: Env): ReturnType<typeof startCli>;
  /** Sandboxes of this world that are there now, by name. */
  sandboxes(): Promise<string[]>;
  /** Waits until no sandbox is left. */
  noSandboxLeft(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a world of its own, on a Redis that is given or its own. Workers that a test leaves running are ended with
 * it, and so is that Redis.
 */
export async function openWorld(extra: Env = {}, given?: TestRedis): Promise<World> {
  const hasEngine = await engineAnswers();
  const server = given ?? (hasEngine ? await startRedisContainer() : await startRedis());
  const redis = new Redis(server.url);
  const scripts = new Map<string, Step[]>();
  const model = await startScriptedModel((userText) => {
    const found = [...scripts].find(([beginning]) => userText.startsWith(beginning));
    return found?.[1];
  });
  const env: Env = {
    REDIS_URL: server.url,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_MODEL: 'scripted',
    SKILLS_ROOT: join(projectDir, 'examples', 'skills'),
    SKILLMILL_DATA_DIR: `/tmp/skillmill-test-data-${process.pid}`,
    SKILLMILL_EXECUTOR: hasEngine ? 'docker' : 'local',
    // A turn's sandboxes are counted: none beside them.
    SKILLMILL_POOL_SIZE: '0',
    ...extra,
  };
  const workers: WorkerProcess[] = [];
  const sandboxes = async () =>
    hasEngine ? containersOf((await redis.get('skillmill:deployment')) ?? 'none') : [];
  return {
    env,
    redis,
    model,
    executor: hasEngine ? 'docker' : 'local',
    script: (beginning, steps) => void scripts.set(beginning, steps),
    async worker(more = {}) {
      const worker = await startWorkerProcess({ ...env, ...more });
      workers.push(worker);
      return worker;
    },
    run: (args, more = {}) => cli(args, { ...env, ...more }),
    start: (args, more = {}) => startCli(args, { ...env, ...more }),
    sandboxes,
    async noSandboxLeft() {
      await eventually('an empty list of sandboxes', async () =>
        (await sandboxes()).length === 0 ? true : undefined,
      );
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.end()));
      redis.disconnect();
      await model.close();
      await server.stop();
    },
  };
}

/** A model step that runs a command of a skill. */
export function runs(command: string, more: Record<string, unknown> = {}): Step {
  return {
    calls: [{ name: 'skill_run', arguments: { skill: 'user-file-ops', command, ...more } }],
  };
}

/** The parsed content of a request's last tool message: what the model was answered. */
export function lastToolResult(request: {
  messages: { role: string; content?: unknown }[];
}): Record<string, unknown> {
  const message = request.messages.findLast((candidate) => candidate.role === 'tool');
  return JSON.parse(String(message?.content)) as Record<string, unknown>;
}
