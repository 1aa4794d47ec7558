import { randomUUID } from 'node:crypto';
import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import { within } from '../../async/deadline.js';
import type { ExecutorLog } from '../executor-log.js';
import type { SandboxJob } from '../executor.js';
import { runsOf } from '../run-dirs.js';
import { untilAbort } from '../../async/until-abort.js';
import { containerSpec, type SandboxShape } from './container-spec.js';
import type { DockerEngine } from './docker-engine.js';
import { sandboxLabels, type SandboxOwner } from './labels.js';
import { startLive, type LiveContainer } from './live-container.js';

const DEFAULT_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** How long an aborted opening waits for the removal of what it made; after it the removal goes on alone. */
const ABORTED_REMOVAL_MS = 2000;

/** Which containers to make, and for whom. */
export interface MakingOptions extends SandboxShape, SandboxOwner {
  /** After it a sandbox is removed by whoever sweeps, even another deployment; must be longer than any job. 24 hours when absent. */
  readonly maxLifetimeMs?: number | undefined;
}

/** What all sandboxes of one executor share. */
export interface Making {
  readonly engine: DockerEngine;
  readonly options: MakingOptions;
  readonly log: ExecutorLog;
  /** Names of the containers that are open, being opened or kept ready: a container of ours that is not among them was left over. */
  readonly open: Set<string>;
}

/** Makes a container, for a job or (none) ahead; its name is among the open ones until its owner takes it out. What was made is
 *  removed when it fails. @throws the signal's reason; SkillmillError SANDBOX_UNAVAILABLE */
export async function makeContainer(
  making: Making,
  job: SandboxJob | undefined,
  signal: AbortSignal,
): Promise<LiveContainer> {
  const { engine, options, log, open } = making;
  // A name of our own, so that a container whose creation was never confirmed can be removed too.
  const name = `skillmill-${randomUUID()}`;
  open.add(name);
  const lifetimeMs = options.maxLifetimeMs ?? DEFAULT_LIFETIME_MS;
  const createdAt = new Date();
  const labels = sandboxLabels(options, job, createdAt, lifetimeMs);
  const runs = runsOf(createdAt);
  const shape = { ...options, image: job?.image ?? options.image };
  const started = startLive({ engine, name, runs }, containerSpec(shape, runs, labels));
  try {
    return await untilAbort(started, signal);
  } catch (thrown) {
    // Not before the engine has answered: what it makes later would be nobody's.
    const made = started.catch(() => undefined);
    const removal = made.then(async (live) => {
      live?.channel.destroy();
      await engine.removeContainer(name);
    });
    const told = removal
      .catch((failure: unknown) => {
        const fields = { name, failure: errorMessage(failure) };
        log('warn', 'a sandbox that could not be opened could not be removed either', fields);
      })
      .finally(() => open.delete(name));
    if (signal.aborted) await within(told, ABORTED_REMOVAL_MS);
    else await told;
    throw thrown;
  }
}
