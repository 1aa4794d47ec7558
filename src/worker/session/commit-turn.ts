import type { Message, TurnResult, WorkspaceVersion } from '../../shared/contracts/index.js';
import type { RedisClient } from '../../shared/redis/redis-client.js';
import { commitTurnScript } from '../../shared/redis/scripts/commit-turn.js';
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

/** Ends a turn in one Redis step; a second commit of the same turn changes nothing. @throws SkillmillError REDIS_UNAVAILABLE */
export async function commitTurn(
  client: RedisClient,
  proof: LeaseProof,
  commit: TurnCommit,
): Promise<{ outcome: 'committed' | 'already' | 'lost'; head: string | undefined }> {
  const { keys, token, nonce } = proof;
  const { result, skills } = commit;
  const counted = (items: readonly string[]) => [items.length, ...items];
  return commitTurnScript.run(
    client,
    [
      keys.session,
      keys.line,
      keys.turn,
      keys.events,
      keys.messages,
      keys.skillState,
      keys.artifacts,
      keys.workspace,
      keys.blobs,
    ],
    [
      token,
      nonce,
      result.turnId,
      result.status,
      JSON.stringify(result),
      commit.resultTtlSeconds,
      commit.sessionTtlSeconds,
      commit.workspace === undefined ? '' : JSON.stringify(commit.workspace),
      ...counted(commit.messages.map((message) => JSON.stringify(message))),
      ...(skills === undefined ? [-1] : counted(stateFields(skills))),
      ...counted(result.artifacts.map((artifact) => JSON.stringify(artifact))),
    ],
  );
}

/** Fields and values, alternating. */
function stateFields({ state, listedTools, pins }: NonNullable<TurnCommit['skills']>): string[] {
  const fields = { ...toStateHash(state), ...toListedField(listedTools), ...toPinnedField(pins) };
  return Object.entries(fields).flat();
}
