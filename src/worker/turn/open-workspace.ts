import type { WorkspaceVersion } from '../../shared/contracts/index.js';
import { SessionFiles } from '../workspace/snapshot/session-files.js';
import { Workspace, type WorkspaceOptions } from '../workspace/workspace.js';
import type { OpenTurn, OpenTurnParts } from './open-turn.js';
import type { TurnDeps } from './turn-deps.js';

/** A turn's workspace, with the files as the attempts before have left them. */
export function openWorkspace(
  deps: TurnDeps,
  { turn, session, inputs, replay, signal }: OpenTurnParts,
  own: Pick<OpenTurn, 'skills' | 'blobs'> & Pick<WorkspaceOptions, 'onSaved'>,
): Workspace {
  const { skills, blobs, onSaved } = own;
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
      signal,
    }),
    skills,
    packs: deps.packs,
    signal,
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
