import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient, type Client } from '../../../src/producer/index.js';
import { projectDir, type Env } from '../cli.js';
import { containersOf, docker } from '../docker.js';
import { startChaosModel, type ChaosModel } from './chaos-model.js';
import type { ChaosSize, TurnPlan } from './chaos-plan.js';
import { startRestartableRedis, type RestartableRedis } from './restartable-redis.js';
import { startCrew, type WorkerCrew } from './worker-crew.js';

/** All that a chaos run needs, each part real. */
export interface ChaosWorld {
  readonly dir: string;
  readonly ledgerPath: string;
  readonly dataDir: string;
  readonly server: RestartableRedis;
  readonly redis: Redis;
  readonly client: Client;
  readonly model: ChaosModel;
  readonly crew: WorkerCrew;
  /** The value of the label by which this run's containers are known. */
  readonly deployment: string;
  close(): Promise<void>;
}

/** Starts it; what was begun is ended again when a part fails. */
export async function openChaosWorld(
  size: ChaosSize,
  plans: readonly TurnPlan[],
  seed: number,
): Promise<ChaosWorld> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const dir = await mkdtemp(join(tmpdir(), 'skillmill-chaos-'));
    closers.push(() => rm(dir, { recursive: true, force: true }));
    const server = await startRestartableRedis();
    closers.push(() => server.stop());
    const redis = new Redis(server.url, { retryStrategy: () => 100 });
    redis.on('error', () => undefined);
    closers.push(async () => {
      redis.disconnect();
      return Promise.resolve();
    });
    const model = await startChaosModel(plans, seed);
    closers.push(() => model.server.close());
    const ledgerPath = join(dir, 'ledger.jsonl');
    const dataDir = join(dir, 'data');
    const env: Env = {
      REDIS_URL: server.url,
      OPENAI_BASE_URL: model.server.baseUrl,
      OPENAI_MODEL: 'scripted',
      SKILLS_ROOT: join(projectDir, 'test', 'fixtures', 'chaos-skills'),
      SKILLMILL_TOOLBOX: join(projectDir, 'test', 'support', 'chaos', 'toolbox.js'),
      SKILLMILL_DATA_DIR: dataDir,
      SKILLMILL_EXECUTOR: 'docker',
      SKILLMILL_POOL_SIZE: '0',
      SKILLMILL_CONCURRENCY: String(size.concurrency),
      SKILLMILL_SHUTDOWN_GRACE: '5',
      SKILLMILL_LOG_LEVEL: 'warn',
      // So many workers die here that a turn may lose more than a few of them.
      SKILLMILL_MAX_ATTEMPTS: '50',
      CHAOS_LEDGER: ledgerPath,
    };
    const client = createClient({ redisUrl: server.url, dataDir });
    closers.push(() => client.close());
    closers.push(async () => removeContainers((await redis.get('skillmill:deployment')) ?? 'none'));
    const crew = await startCrew(size.workers, env);
    closers.push(() => crew.end());
    const deployment = (await redis.get('skillmill:deployment')) ?? 'none';
    return {
      ...{ dir, ledgerPath, dataDir, server, redis, client, model, crew, deployment },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function removeContainers(deployment: string): Promise<void> {
  const names = await containersOf(deployment);
  await Promise.allSettled(
    names.map((name) => docker.getContainer(name.replace(/^\//, '')).remove({ force: true })),
  );
}
