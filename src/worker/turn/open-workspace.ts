import type { WorkspaceVersion } from '../../shared/contracts/index.js';
import { SessionFiles } from '../workspace/snapshot/session-files.js';
import { Workspace } from '../workspace/workspace.js';
import type { WorkspaceOptions } from '../workspace/workspace-options.js';
import type { OpenTurn, OpenTurnParts } from './open-turn.js';
import type { TurnDeps } from './turn-deps.js';

/** A turn's workspace, with the files as the attempts before have left them. */
export function openWorkspace(
  deps: TurnDeps,
  { turn, session, inputs, replay, events, attempt }: OpenTurnParts,
  own: Pick<OpenTurn, 'skills' | 'blobs'> & Pick<WorkspaceOptions, 'onSaved'>,
): Workspace {
  const { skills, blobs, onSaved } = own;
  const { signal, keeping, fail } = attempt;
  return new Workspace({
    executor: deps.executor,
    job: { turnId: turn.turnId, sessionId: turn.sessionId },
    inputs,
    files: new SessionFiles({
      base: session.workspace,
      checkpoint: newer(replay.checkpoint, session.workspace),
      inputs,
      blobs,
      limits: deps.snapshotLimits,
      signal: keeping,
    }),
    skills,
    packs: deps.packs,
    signal,
    keeping,
    onStepsLost(error) {
      // What loses its sandbox in every attempt is not run once more: before the turn fails the model is told, and may do something else.
      if (turn.fruitless >= deps.maxAttempts && !events.hasProgress) return false;
      fail(error);
      return true;
    },
    ...(onSaved === undefined ? {} : { onSaved }),
  });
}

/** A checkpoint that is not in the session's version yet. */
function newer(
  checkpoint: WorkspaceVersion | undefined,
  base: WorkspaceVersion | undefined,
): WorkspaceVersion | undefined {
  return (checkpoint?.version ?? 0) > (base?.version ?? 0) ? checkpoint : undefined;
}
