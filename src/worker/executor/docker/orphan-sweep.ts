import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import type { ExecutorLog } from '../executor-log.js';
import type { DockerEngine } from './docker-engine.js';
import { labelNames, type SandboxOwner } from './labels.js';

/** Removes the containers of this deployment whose worker is no longer alive, never our own; returns how many.
 *  Two workers may sweep at once: a container that the other removes counts as removed. @throws SkillmillError SANDBOX_UNAVAILABLE */
export async function sweepOrphans(
  engine: DockerEngine,
  self: SandboxOwner,
  isAlive: (owner: string) => Promise<boolean>,
  log: ExecutorLog,
): Promise<number> {
  const known = new Map<string, boolean>([[self.owner, true]]);
  let removed = 0;
  for (const { id, labels } of await engine.containersWith(
    labelNames.deployment,
    self.deployment,
  )) {
    const owner = labels[labelNames.owner] ?? '';
    const alive = known.get(owner) ?? (await isAlive(owner));
    known.set(owner, alive);
    if (alive) continue;
    try {
      await engine.removeContainer(id);
      removed += 1;
      log('info', 'removed the sandbox of a worker that is gone', { container: id, owner });
    } catch (thrown) {
      // The next sweep tries it again; the others must not wait for it.
      log('warn', errorMessage(thrown), { container: id, owner });
    }
  }
  return removed;
}
