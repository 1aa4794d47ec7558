import type { SessionId, TurnId, TurnResult } from '../contracts/index.js';
import type { SkillmillError } from '../errors/skillmill-error.js';

/** The result of a turn that ended before any step of it was done. */
export function unstartedResult(
  turn: {
    turnId: TurnId;
    sessionId: SessionId;
    metadata: Record<string, string>;
    acceptedAt: number;
    retryOf?: TurnId | undefined;
  },
  status: 'failed' | 'cancelled',
  error: SkillmillError,
  attempts: number,
): TurnResult {
  const waited = Math.max(0, Date.now() - turn.acceptedAt);
  return {
    turnId: turn.turnId,
    sessionId: turn.sessionId,
    status,
    output: '',
    error: error.toPublic(),
    toolCalls: [],
    artifacts: [],
    usage: { modelCalls: 0, toolCalls: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 },
    timings: { queuedMs: waited, modelMs: 0, toolMs: 0, totalMs: waited },
    attempts,
    skills: [],
    ...(turn.retryOf !== undefined && { retryOf: turn.retryOf }),
    metadata: turn.metadata,
  };
}
