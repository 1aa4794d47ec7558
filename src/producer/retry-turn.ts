import { makeTurnId, type TurnId } from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { readTurn } from '../shared/results/turn-store.js';
import { addTurn, type EnqueueContext, type EnqueuedTurn } from '../shared/turns/enqueue-turn.js';

/**
 * Tries an ended turn again, as a new turn of its session: from its journal when nothing of the session has come after it, else anew.
 * Asking twice gives the same turn. @throws SkillmillError TURN_NOT_FOUND, TURN_NOT_FINISHED, INPUT_INVALID, REDIS_UNAVAILABLE
 */
export async function retryTurn(context: EnqueueContext, turnId: TurnId): Promise<EnqueuedTurn> {
  const ended = await readTurn(context.client, context.tenant, turnId);
  const { sessionId, request, result, acceptedAt } = ended;
  if (result === undefined) {
    throw new SkillmillError(
      'TURN_NOT_FINISHED',
      `Turn ${turnId} has no result yet: there is nothing to try again.`,
    );
  }
  if (result.status === 'completed') {
    throw new SkillmillError(
      'INPUT_INVALID',
      `Turn ${turnId} has completed: only a failed or cancelled turn is tried again. Enqueue a new one.`,
    );
  }
  return addTurn(context, {
    // A turn with a key may be enqueued anew under the same id, and fail anew.
    turnId: makeTurnId(context.tenant, sessionId, `retry ${turnId} ${acceptedAt}`),
    sessionId,
    request: { ...request, onBusy: undefined, delayMs: undefined, idempotencyKey: undefined },
    retryOf: turnId,
  });
}
