import type { SessionId, TurnId, TurnResult } from '../contracts/index.js';
import type { DoneSoFar } from '../journal/done-so-far.js';
import type { SkillmillError } from '../errors/skillmill-error.js';

/** What is known of a turn that nobody ran. */
export interface UnrunTurn {
  readonly turnId: TurnId;
  readonly sessionId: SessionId;
  readonly metadata: Record<string, string>;
  readonly acceptedAt: number;
  readonly retryOf?: TurnId | undefined;
}

/** The result of a turn that ended while nobody ran it, with what it had done before. */
export function unstartedResult(
  turn: UnrunTurn,
  status: 'failed' | 'cancelled',
  error: SkillmillError,
  { attempts, done }: { readonly attempts: number; readonly done: DoneSoFar },
): TurnResult {
  const { timings, ...empty } = emptyResult(turn);
  const { modelMs, toolMs, ...parts } = done.result;
  const told = { status, error: error.toPublic(), attempts };
  return { ...empty, ...parts, timings: { ...timings, modelMs, toolMs }, ...told };
}

/** The result of a turn whose message joined the running one, which answers it. */
export function mergedResult(turn: UnrunTurn, mergedInto: TurnId): TurnResult {
  return { ...emptyResult(turn), status: 'completed', error: null, attempts: 0, mergedInto };
}

function emptyResult(turn: UnrunTurn): Omit<TurnResult, 'status' | 'error' | 'attempts'> {
  const waited = Math.max(0, Date.now() - turn.acceptedAt);
  return {
    turnId: turn.turnId,
    sessionId: turn.sessionId,
    output: '',
    toolCalls: [],
    artifacts: [],
    usage: { modelCalls: 0, toolCalls: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 },
    timings: { queuedMs: waited, modelMs: 0, toolMs: 0, totalMs: waited },
    skills: [],
    ...(turn.retryOf !== undefined && { retryOf: turn.retryOf }),
    metadata: turn.metadata,
  };
}
