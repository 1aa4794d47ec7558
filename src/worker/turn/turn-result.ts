import type { TurnResult } from '../../shared/contracts/index.js';
import { closeTranscript } from '../session/close-transcript.js';
import type { TurnCommit } from '../session/commit-turn.js';
import type { OpenTurn } from './open-turn.js';
import type { AttemptEnd } from './run-turn.js';
import type { TurnDeps } from './turn-deps.js';

type FinalEnd = Extract<AttemptEnd, { kind: 'completed' | 'failed' | 'cancelled' }>;

/** What an ended attempt leaves behind: result, history, state. */
export function commitOf(deps: TurnDeps, open: OpenTurn, end: FinalEnd): TurnCommit {
  const { messages } = open.transcript;
  return {
    result: resultOf(open, end),
    messages:
      end.kind === 'completed' ? messages : closeTranscript(open.turn.turnId, messages, end.error),
    skillState: open.skillState.get(),
    listedTools: open.toolbox.listedNames,
    resultTtlSeconds: deps.resultTtlSeconds,
    sessionTtlSeconds: deps.sessionTtlSeconds,
  };
}

function resultOf(open: OpenTurn, end: FinalEnd): TurnResult {
  const { turn, transcript, limits } = open;
  return {
    turnId: turn.turnId,
    sessionId: turn.sessionId,
    status: end.kind,
    output: end.kind === 'completed' ? end.output : '',
    error: end.kind === 'completed' ? null : end.error.toPublic(),
    toolCalls: transcript.toolCalls,
    artifacts: [...open.artifacts.saved],
    usage: limits.usage,
    timings: {
      queuedMs: turn.startedAt - turn.acceptedAt,
      modelMs: Math.round(transcript.modelMs),
      toolMs: Math.round(transcript.toolMs),
      totalMs: Math.max(0, Date.now() - turn.acceptedAt),
    },
    attempts: turn.attempt,
    skills: [...open.used].map(([name, digest]) => ({ name, digest })),
    metadata: turn.request.metadata ?? {},
  };
}
