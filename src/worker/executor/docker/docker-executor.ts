import { randomUUID } from 'node:crypto';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { ExecutorLog } from '../executor-log.js';
import type { Executor, OpenSandbox, SandboxJob } from '../executor.js';
import { checkLimits, containerSpec, type SandboxShape } from './container-spec.js';
import { DockerEngine } from './docker-engine.js';
import { DockerSandbox } from './docker-sandbox.js';
import { sandboxLabels, type SandboxOwner } from './labels.js';
import { sweepOrphans } from './orphan-sweep.js';

const CHECK_MS = 5000;

/** Which containers to make, for whom, and where. */
export interface DockerExecutorOptions extends SandboxShape, SandboxOwner {
  /** `unix:///path` or `tcp://host:port`; the usual socket when absent. */
  readonly dockerHost?: string | undefined;
  readonly log?: ExecutorLog | undefined;
}

/** An executor that runs each job's commands in a container made for that job. @throws SkillmillError CONFIG_INVALID for limits or an address that cannot be */
export function createDockerExecutor(options: DockerExecutorOptions): Executor {
  checkLimits(options.limits);
  const engine = new DockerEngine(options.dockerHost);
  const log = options.log ?? (() => undefined);
  return {
    name: 'docker',
    check: () => check(engine, options.image),
    open: (job, signal) => open(engine, options, job, signal),
    sweep: (isAlive) => sweepOrphans(engine, options, isAlive, log),
  };
}

async function check(engine: DockerEngine, image: string): Promise<void> {
  const deadline = performance.now() + CHECK_MS;
  await engine.ping(CHECK_MS);
  if (await engine.hasImage(image, Math.max(1, deadline - performance.now()))) return;
  throw new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `The engine has no image ${image}. Make it with \`docker compose build runner\` or \`scripts/services.sh --install images\`, or set SKILLMILL_IMAGE to one that it has.`,
  );
}

async function open(
  engine: DockerEngine,
  options: DockerExecutorOptions,
  job: SandboxJob,
  signal: AbortSignal,
): Promise<OpenSandbox> {
  signal.throwIfAborted();
  const log = options.log ?? (() => undefined);
  // A name of our own, so that a container whose creation was never confirmed can be removed too.
  const name = `skillmill-${randomUUID()}`;
  const sandbox = new DockerSandbox(engine, name, log);
  try {
    const labels = sandboxLabels(options, job, new Date());
    await engine.startContainer(name, containerSpec(options, labels));
    signal.throwIfAborted();
    await sandbox.layOut();
    signal.throwIfAborted();
    return sandbox;
  } catch (thrown) {
    await sandbox.close().catch((failure: unknown) => {
      log('warn', 'a sandbox that could not be opened could not be removed either', {
        name,
        failure,
      });
    });
    throw thrown;
  }
}
