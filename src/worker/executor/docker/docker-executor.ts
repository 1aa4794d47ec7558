import { errorMessage, SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { ExecutorLog } from '../executor-log.js';
import type { Executor } from '../executor.js';
import { checkLimits } from './container-spec.js';
import { DockerEngine } from './docker-engine.js';
import { DockerSandbox } from './docker-sandbox.js';
import type { LiveContainer } from './live-container.js';
import { makeContainer, type Making, type MakingOptions } from './make-container.js';
import { sweepOrphans } from './orphan-sweep.js';
import { WarmPool } from './warm-pool.js';

const CHECK_MS = 5000;
const DEFAULT_POOL_AGE_MS = 15 * 60 * 1000;

/** Which containers to make, for whom, and where. */
export interface DockerExecutorOptions extends MakingOptions {
  /** `unix:///path` or `tcp://host:port`; the usual socket when absent. */
  readonly dockerHost?: string | undefined;
  readonly log?: ExecutorLog | undefined;
  /** How many sandboxes are kept ready once `warmUp` was called; none when absent. */
  readonly poolSize?: number | undefined;
  /** None that waits in the pool gets older; 15 minutes when absent. */
  readonly poolMaxAgeMs?: number | undefined;
  /** How many are made ahead at a time; 2 when absent. */
  readonly refillConcurrency?: number | undefined;
}

/** An executor that runs each job's commands in a container made for that job. @throws SkillmillError CONFIG_INVALID for limits or an address that cannot be */
export function createDockerExecutor(options: DockerExecutorOptions): Executor {
  checkLimits(options.limits);
  const engine = new DockerEngine(options.dockerHost);
  const log = options.log ?? (() => undefined);
  const making: Making = { engine, options, log, open: new Set() };
  const pool = makePool(making, options);
  return {
    name: 'docker',
    check: () => check(engine, options.image),
    async imageId() {
      const id = await engine.imageId(options.image);
      if (id === undefined) throw noImage(options.image);
      return id;
    },
    warmUp: () => pool.fill(),
    async open(job, signal) {
      signal.throwIfAborted();
      const live = pool.take() ?? (await makeContainer(making, job, signal));
      const onClosed = () => making.open.delete(live.name);
      return new DockerSandbox(live, { log, signal, onClosed });
    },
    sweep: (isAlive) => sweepOrphans(making, isAlive),
    close: () => pool.close(),
  };
}

function makePool(making: Making, options: DockerExecutorOptions): WarmPool {
  const { log, open } = making;
  const discard = async (container: LiveContainer) => {
    try {
      await container.remove();
    } catch (thrown) {
      const fields = { name: container.name, failure: errorMessage(thrown) };
      log('warn', 'a sandbox that was made ahead could not be removed', fields);
    } finally {
      open.delete(container.name);
    }
  };
  const poolOptions = {
    size: options.poolSize ?? 0,
    refillConcurrency: options.refillConcurrency ?? 2,
    maxAgeMs: options.poolMaxAgeMs ?? DEFAULT_POOL_AGE_MS,
  };
  const make = () => makeContainer(making, undefined, new AbortController().signal);
  return new WarmPool(poolOptions, { make, discard, log });
}

async function check(engine: DockerEngine, image: string): Promise<void> {
  const deadline = performance.now() + CHECK_MS;
  await engine.ping(CHECK_MS);
  const id = await engine.imageId(image, Math.max(1, deadline - performance.now()));
  if (id === undefined) throw noImage(image);
}

function noImage(image: string): SkillmillError {
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `The engine has no image ${image}. Make it with \`docker compose --profile build build runner\` or \`scripts/services.sh --install --env /dev/null runner-image\`, or set SKILLMILL_IMAGE to one that it has.`,
  );
}
