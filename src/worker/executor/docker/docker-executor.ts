import { errorMessage, SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { ExecutorLog } from '../executor-log.js';
import type { Executor, OnServing } from '../executor.js';
import { checkLimits, type SandboxShape } from './container-spec.js';
import { DockerEngine } from './docker-engine.js';
import { DockerSandbox } from './docker-sandbox.js';
import type { LiveContainer } from './live-container.js';
import { makeContainer, type Making, type MakingOptions } from './make-container.js';
import { sweepOrphans } from './orphan-sweep.js';
import { WarmPool, type PoolOptions } from './warm-pool.js';

const CHECK_MS = 5000;
const noPool: PoolOptions = { size: 0, refill: 1, maxAgeMs: 1 };

/** Which containers to make, for whom, and where. */
export interface DockerExecutorOptions extends MakingOptions {
  /** `unix:///path` or `tcp://host:port`; the usual socket when absent. */
  readonly dockerHost?: string | undefined;
  readonly log?: ExecutorLog | undefined;
  /** What is kept ready once `warmUp` was called; nothing when absent. */
  readonly pool?: PoolOptions | undefined;
  readonly onServing?: OnServing | undefined;
}

/** An executor that runs each job's commands in a container made for that job.
 *  @throws SkillmillError CONFIG_INVALID for limits or an address that cannot be */
export function createDockerExecutor(options: DockerExecutorOptions): Executor {
  checkLimits(options.limits);
  const engine = new DockerEngine(options.dockerHost);
  const log = options.log ?? (() => undefined);
  const making: Making = { engine, options, log, open: new Set() };
  const pool = makePool(making, options);
  return {
    name: 'docker',
    check: () => check(engine, options),
    async imageId() {
      const id = await engine.imageId(options.image);
      if (id === undefined) throw noImage(options.image);
      return id;
    },
    warmUp: () => pool.fill(),
    async open(job, signal, opening = signal) {
      opening.throwIfAborted();
      const isOwn = job.image === undefined || job.image === options.image;
      const ready = isOwn ? pool.take() : undefined;
      const live = ready ?? (await makeContainer(making, job, opening));
      options.onServing?.(live.name, job);
      const onClosed = () => {
        making.open.delete(live.name);
        options.onServing?.(live.name, undefined);
      };
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
  const make = () => makeContainer(making, undefined, new AbortController().signal);
  return new WarmPool(options.pool ?? noPool, { make, discard, log });
}

async function check(engine: DockerEngine, shape: SandboxShape): Promise<void> {
  const { image, network = 'none', runtime } = shape;
  const deadline = performance.now() + CHECK_MS;
  const left = () => Math.max(1, deadline - performance.now());
  await engine.ping(CHECK_MS);
  if ((await engine.imageId(image, left())) === undefined) throw noImage(image);
  if (network !== 'none' && !(await engine.hasNetwork(network, left()))) {
    throw notThere(`network ${network}`, `docker network create ${network}`, 'SKILLMILL_NETWORK');
  }
  const runtimes = runtime === undefined ? [] : await engine.runtimes(left());
  if (runtime !== undefined && !runtimes.includes(runtime)) {
    throw notThere(
      `runtime ${runtime} (it has ${runtimes.join(', ')})`,
      'the engine’s `runtimes` setting',
      'SKILLMILL_RUNTIME',
    );
  }
}

function notThere(what: string, mend: string, setting: string): SkillmillError {
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `The engine has no ${what}. Add it (${mend}), or change ${setting}.`,
  );
}

function noImage(image: string): SkillmillError {
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `The engine has no image ${image}. Make it with \`docker compose --profile build build runner\` or \`scripts/services.sh --install --env /dev/null runner-image\`, or set SKILLMILL_IMAGE to one that it has.`,
  );
}
