import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import type { ExecutorLog } from '../executor-log.js';
import type { DockerEngine, LabelledContainer } from './docker-engine.js';
import { isExpired, labelNames, type SandboxOwner } from './labels.js';

/** Who sweeps where, and what of it is in use. */
export interface Sweeper {
  readonly engine: DockerEngine;
  readonly options: SandboxOwner;
  readonly log: ExecutorLog;
  /** Names of our own containers that are open, being opened or kept ready. */
  readonly open: ReadonlySet<string>;
}

/** Removes the containers of this deployment whose worker is no longer alive, our own that are no longer open, and those of any
 *  deployment that are past their expiry; returns how many. Two workers may sweep at once: a container that the other removes
 *  counts as removed. @throws SkillmillError SANDBOX_UNAVAILABLE */
export async function sweepOrphans(
  sweeper: Sweeper,
  isAlive: (owner: string) => Promise<boolean>,
): Promise<number> {
  const { engine, log } = sweeper;
  const known = new Map<string, boolean>();
  const isKnownAlive = async (owner: string) => {
    const alive = known.get(owner) ?? (await isAlive(owner));
    known.set(owner, alive);
    return alive;
  };
  let removed = 0;
  for (const container of await engine.containersWith(labelNames.deployment)) {
    const why = await reasonToRemove(sweeper, container, isKnownAlive);
    if (why === undefined) continue;
    const fields = { container: container.name, owner: container.labels[labelNames.owner] };
    try {
      await engine.removeContainer(container.id);
      removed += 1;
      log('info', `removed a sandbox: ${why}`, fields);
    } catch (thrown) {
      // The next sweep tries it again; the others must not wait for it.
      log('warn', errorMessage(thrown), fields);
    }
  }
  return removed;
}

async function reasonToRemove(
  { options: self, open }: Sweeper,
  { name, labels }: LabelledContainer,
  isAlive: (owner: string) => Promise<boolean>,
): Promise<string | undefined> {
  if (isExpired(labels, new Date())) return 'it is past its expiry';
  if (labels[labelNames.deployment] !== self.deployment) return undefined;
  const owner = labels[labelNames.owner] ?? '';
  if (owner === self.owner) return open.has(name) ? undefined : 'it was closed but not removed';
  return (await isAlive(owner)) ? undefined : 'its worker is gone';
}
