import { tagOfTurn, type TurnId } from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { sessionKeys, turnKeys } from '../shared/redis/keys.js';
import { cancelTurnScript } from '../shared/redis/scripts/cancel-turn.js';
import { readTurn } from '../shared/results/turn-store.js';
import { unstartedResult } from '../shared/results/unstarted-result.js';
import type { EnqueueContext } from './enqueue-turn.js';

/** `cancelled`: it waited, and is over. `requested`: it runs, and its worker ends it. `finished`: it was over before. */
export type CancelOutcome = 'cancelled' | 'requested' | 'finished';

/** Cancels a turn, wherever it runs. @throws SkillmillError TURN_NOT_FOUND, REDIS_UNAVAILABLE */
export async function cancelTurn(
  context: Pick<EnqueueContext, 'client' | 'queue' | 'tenant'> & { resultTtlSeconds: number },
  turnId: TurnId,
): Promise<CancelOutcome> {
  const { client, queue, tenant, resultTtlSeconds } = context;
  const turn = await readTurn(client, tenant, turnId);
  const session = sessionKeys(tenant, tagOfTurn(turnId));
  const keys = turnKeys(tenant, turnId);
  const result = unstartedResult(
    {
      turnId,
      sessionId: turn.sessionId,
      metadata: turn.request.metadata ?? {},
      acceptedAt: turn.acceptedAt,
    },
    'cancelled',
    new SkillmillError('CANCELLED', 'The turn was cancelled before it ran.'),
    0,
  );
  const { outcome, head } = await cancelTurnScript.run(
    client,
    [session.session, session.line, keys.turn, keys.events],
    [turnId, JSON.stringify(result), resultTtlSeconds],
  );
  if (head !== undefined) await queue.addHead(tenant, turn.sessionId, head);
  if (outcome === 'unknown')
    throw new SkillmillError('TURN_NOT_FOUND', `Turn ${turnId} has just expired.`);
  return outcome;
}
