import type { StoreConfig } from '../shared/config/config.js';
import { tagOfTurn, type TurnId } from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { sessionKeys, turnKeys } from '../shared/redis/keys.js';
import { cancelTurnScript } from '../shared/redis/scripts/cancel-turn.js';
import { readTurn } from '../shared/results/turn-store.js';
import { unstartedResult } from '../shared/results/unstarted-result.js';
import { closeTranscript, userMessage } from '../shared/session/turn-messages.js';
import type { EnqueueContext } from './enqueue-turn.js';

/** `cancelled`: it waited, and is over. `requested`: it runs, and its worker ends it. `finished`: it was over before. */
export type CancelOutcome = 'cancelled' | 'requested' | 'finished';

export interface CancelContext extends Pick<EnqueueContext, 'client' | 'queue' | 'tenant'> {
  readonly config: Pick<StoreConfig, 'resultTtlSeconds' | 'sessionTtlSeconds'>;
}

/** Cancels a turn, wherever it runs. @throws SkillmillError TURN_NOT_FOUND, REDIS_UNAVAILABLE */
export async function cancelTurn(context: CancelContext, turnId: TurnId): Promise<CancelOutcome> {
  const { client, queue, tenant, config } = context;
  const turn = await readTurn(client, tenant, turnId);
  const keys = { ...sessionKeys(tenant, tagOfTurn(turnId)), ...turnKeys(tenant, turnId) };
  const error = new SkillmillError('CANCELLED', 'The turn was cancelled while it waited.');
  const told = { ...turn, turnId, metadata: turn.request.metadata ?? {} };
  const result = unstartedResult(told, 'cancelled', error, turn.attempts);
  const messages = closeTranscript(
    turnId,
    [userMessage(turnId, turn.request.input, turn.request.files)],
    error,
  );
  const { outcome, head } = await cancelTurnScript.run(
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
    ],
    [
      turnId,
      JSON.stringify(result),
      config.resultTtlSeconds,
      config.sessionTtlSeconds,
      ...messages.map((message) => JSON.stringify(message)),
    ],
  );
  if (head !== undefined) await queue.addHead(tenant, turn.sessionId, head);
  if (outcome !== 'unknown') return outcome;
  throw new SkillmillError('TURN_NOT_FOUND', `Turn ${turnId} has just expired.`);
}
