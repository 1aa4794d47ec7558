import type { StoreConfig } from '../config/config.js';
import { tagOfTurn, type TurnId } from '../contracts/index.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import { doneSoFar } from '../journal/done-so-far.js';
import { readJournal } from '../journal/read-journal.js';
import { sessionKeys, turnKeys } from '../redis/keys.js';
import { askToCancelScript } from '../redis/scripts/ask-to-cancel.js';
import { cancelTurnScript } from '../redis/scripts/cancel-turn.js';
import { sessionTurnKeys } from '../redis/scripts/session-turn-keys.js';
import { readTurn, turnNotFound } from '../results/turn-store.js';
import { unstartedResult } from '../results/unstarted-result.js';
import { closeTranscript, userMessage } from '../session/turn-messages.js';
import type { EnqueueContext } from './enqueue-turn.js';

/** `cancelled`: nobody ran it, and it is over. `requested`: it runs, and its worker ends it. `finished`: it was over before. */
export type CancelOutcome = 'cancelled' | 'requested' | 'finished';

export interface CancelContext extends Pick<
  EnqueueContext,
  'client' | 'queue' | 'tenant' | 'blobs'
> {
  readonly config: Pick<StoreConfig, 'resultTtlSeconds' | 'sessionTtlSeconds'>;
}

/** Cancels a turn, wherever it runs. @throws SkillmillError TURN_NOT_FOUND, REDIS_UNAVAILABLE */
export async function cancelTurn(context: CancelContext, turnId: TurnId): Promise<CancelOutcome> {
  for (;;) {
    const asked = await ask(context, turnId, { isNextAsked: false });
    if (asked !== 'idle') return asked;
    const ended = await endIdle(context, turnId);
    // A worker ran it between our look at what it has done and our step.
    if (ended !== 'changed') return ended;
  }
}

/** Whoever runs the turn is asked, and need not be waited for. */
async function ask(
  { client, tenant }: CancelContext,
  turnId: TurnId,
  { isNextAsked }: { readonly isNextAsked: boolean },
): Promise<'requested' | 'finished' | 'idle'> {
  const { session, line } = sessionKeys(tenant, tagOfTurn(turnId));
  const { turn } = turnKeys(tenant, turnId);
  const keys = [session, turn, line];
  const outcome = await askToCancelScript.run(client, keys, [turnId, isNextAsked ? 1 : 0]);
  if (outcome === 'unknown') throw turnNotFound(turnId);
  return outcome;
}

/** Ends a turn that nobody runs, with what it has done; where that cannot be read from here, it is left to its next worker. */
async function endIdle(context: CancelContext, turnId: TurnId): Promise<CancelOutcome | 'changed'> {
  const { queue, tenant } = context;
  try {
    const { outcome, head, sessionId } = await tryToCancel(context, turnId);
    if (head !== undefined) await queue.addHead(tenant, sessionId, head);
    if (outcome === 'unknown') throw turnNotFound(turnId);
    return outcome;
  } catch (error) {
    if (!isOfStores(error)) throw error;
    const asked = await ask(context, turnId, { isNextAsked: true });
    if (asked === 'idle') throw error;
    return asked;
  }
}

/** Does it concern what is stored of the turn? A producer need not reach the store that the workers share. */
function isOfStores(error: unknown): boolean {
  return !['REDIS_UNAVAILABLE', 'TURN_NOT_FOUND'].includes(SkillmillError.from(error).code);
}

async function tryToCancel({ client, tenant, config, blobs }: CancelContext, turnId: TurnId) {
  const keys = { ...sessionKeys(tenant, tagOfTurn(turnId)), ...turnKeys(tenant, turnId) };
  const turn = await readTurn(client, tenant, turnId);
  const { entries } = await readJournal(client, keys, blobs);
  const done = doneSoFar(turnId, entries);
  const error = new SkillmillError('CANCELLED', 'The turn was cancelled while it waited.');
  const { input, files, metadata = {} } = turn.request;
  const { attempts } = turn;
  const result = unstartedResult({ ...turn, turnId, metadata }, 'cancelled', error, {
    attempts,
    done,
  });
  const said = [userMessage(turnId, input, files), ...done.messages];
  const messages = closeTranscript(turnId, said, error);
  const reply = await cancelTurnScript.run(client, sessionTurnKeys(keys), [
    ...[turnId, JSON.stringify(result), entries.length],
    ...[config.resultTtlSeconds, config.sessionTtlSeconds],
    done.workspace === undefined ? '' : JSON.stringify(done.workspace),
    ...[result.artifacts.length, ...result.artifacts.map((artifact) => JSON.stringify(artifact))],
    ...messages.map((message) => JSON.stringify(message)),
  ]);
  return { ...reply, sessionId: turn.sessionId };
}
