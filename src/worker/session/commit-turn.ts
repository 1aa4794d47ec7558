import type { Message, TurnResult, WorkspaceVersion } from '../../shared/contracts/index.js';
import type { LineHead } from '../../shared/queue/turn-queue.js';
import type { RedisClient } from '../../shared/redis/redis-client.js';
import { commitTurnScript } from '../../shared/redis/scripts/commit-turn.js';
import { sessionTurnKeys } from '../../shared/redis/scripts/session-turn-keys.js';
import type { LeaseProof } from './lease.js';
import { toListedField } from './listed-tools.js';
import { toPinnedField, type ArtifactPins } from './pinned-artifacts.js';
import { toStateHash, type SkillState } from './skill-state.js';

/** All that a turn leaves behind. */
export interface TurnCommit {
  readonly result: TurnResult;
  readonly messages: readonly Message[];
  /** Undefined leaves what is loaded and listed as it is: the turn never looked at it. */
  readonly skills:
    | {
        readonly state: SkillState;
        readonly listedTools: readonly string[];
        readonly pins: ArtifactPins;
      }
    | undefined;
  /** Undefined leaves the version before in force. */
  readonly workspace: WorkspaceVersion | undefined;
  readonly resultTtlSeconds: number;
  readonly sessionTtlSeconds: number;
}

/** What became of a commit. */
export interface CommitReply {
  /** `unread`: a message has come that joins the turn, which goes on. */
  readonly outcome: 'committed' | 'already' | 'unread' | 'lost';
  readonly head: LineHead | undefined;
}

/** Ends a turn in one Redis step; a second commit of the same turn changes nothing. @throws SkillmillError REDIS_UNAVAILABLE */
export async function commitTurn(
  client: RedisClient,
  { keys, token, nonce }: LeaseProof,
  commit: TurnCommit,
): Promise<CommitReply> {
  const { result, skills, workspace } = commit;
  const counted = (items: readonly string[]) => [items.length, ...items];
  return commitTurnScript.run(client, sessionTurnKeys(keys), [
    ...[token, nonce, result.turnId, result.status, JSON.stringify(result)],
    ...[commit.resultTtlSeconds, commit.sessionTtlSeconds],
    workspace === undefined ? '' : JSON.stringify(workspace),
    ...counted(commit.messages.map((message) => JSON.stringify(message))),
    ...(skills === undefined ? [-1] : counted(stateFields(skills))),
    ...counted(result.artifacts.map((artifact) => JSON.stringify(artifact))),
  ]);
}

/** Fields and values, alternating. */
function stateFields({ state, listedTools, pins }: NonNullable<TurnCommit['skills']>): string[] {
  const fields = { ...toStateHash(state), ...toListedField(listedTools), ...toPinnedField(pins) };
  return Object.entries(fields).flat();
}
