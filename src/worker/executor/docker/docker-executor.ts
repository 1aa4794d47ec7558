import { randomUUID } from 'node:crypto';
import { errorMessage, SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { within } from '../../async/deadline.js';
import type { ExecutorLog } from '../executor-log.js';
import type { Executor, OpenSandbox, SandboxJob } from '../executor.js';
import { untilAbort } from '../../async/until-abort.js';
import { checkLimits, containerSpec, type SandboxShape } from './container-spec.js';
import { DockerEngine } from './docker-engine.js';
import { DockerSandbox } from './docker-sandbox.js';
import { sandboxLabels, type SandboxOwner } from './labels.js';
import { sweepOrphans } from './orphan-sweep.js';

const CHECK_MS = 5000;
const DEFAULT_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** How long an aborted opening waits for the removal of what it made; after it the removal goes on alone. */
const ABORTED_REMOVAL_MS = 2000;

/** Which containers to make, for whom, and where. */
export interface DockerExecutorOptions extends SandboxShape, SandboxOwner {
  /** `unix:///path` or `tcp://host:port`; the usual socket when absent. */
  readonly dockerHost?: string | undefined;
  readonly log?: ExecutorLog | undefined;
  /** After it a sandbox is removed by whoever sweeps, even another deployment; must be longer than any job. 24 hours when absent. */
  readonly maxLifetimeMs?: number | undefined;
}

/** What all sandboxes of one executor share. */
interface Making {
  readonly engine: DockerEngine;
  readonly options: DockerExecutorOptions;
  readonly log: ExecutorLog;
  /** Names of the containers that are open or being opened: a container of ours that is not among them was left over. */
  readonly open: Set<string>;
}

/** An executor that runs each job's commands in a container made for that job. @throws SkillmillError CONFIG_INVALID for limits or an address that cannot be */
export function createDockerExecutor(options: DockerExecutorOptions): Executor {
  checkLimits(options.limits);
  const engine = new DockerEngine(options.dockerHost);
  const log = options.log ?? (() => undefined);
  const making: Making = { engine, options, log, open: new Set() };
  return {
    name: 'docker',
    check: () => check(engine, options.image),
    async imageId() {
      const id = await engine.imageId(options.image);
      if (id === undefined) throw noImage(options.image);
      return id;
    },
    open: (job, signal) => open(making, job, signal),
    sweep: (isAlive) => sweepOrphans(making, isAlive),
  };
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

async function open(making: Making, job: SandboxJob, signal: AbortSignal): Promise<OpenSandbox> {
  signal.throwIfAborted();
  const { engine, options, log } = making;
  // A name of our own, so that a container whose creation was never confirmed can be removed too.
  const name = `skillmill-${randomUUID()}`;
  const onClosed = () => making.open.delete(name);
  const sandbox = new DockerSandbox(engine, name, { log, signal, onClosed });
  making.open.add(name);
  const labels = sandboxLabels(
    options,
    job,
    new Date(),
    options.maxLifetimeMs ?? DEFAULT_LIFETIME_MS,
  );
  const started = engine.startContainer(name, containerSpec(options, labels));
  try {
    await untilAbort(started, signal);
    await untilAbort(sandbox.layOut(), signal);
    return sandbox;
  } catch (thrown) {
    // Not before the engine has answered: what it makes later would be nobody's.
    const removal = started.catch(() => undefined).then(() => sandbox.close());
    const told = removal.catch((failure: unknown) => {
      const fields = { name, failure: errorMessage(failure) };
      log('warn', 'a sandbox that could not be opened could not be removed either', fields);
    });
    if (signal.aborted) await within(told, ABORTED_REMOVAL_MS);
    else await told;
    throw thrown;
  }
}
