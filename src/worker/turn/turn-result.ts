import type { TurnResult } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { DoneSoFar } from '../../shared/journal/done-so-far.js';
import { unstartedResult } from '../../shared/results/unstarted-result.js';
import { closeTranscript, userMessage } from '../../shared/session/turn-messages.js';
import type { TurnCommit } from '../session/commit-turn.js';
import type { OpenTurn } from './open-turn.js';
import type { FinalEnd } from './run-turn.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

/** What an ended attempt leaves behind: result, history, state. */
export function commitOf(deps: TurnDeps, open: OpenTurn, end: FinalEnd): TurnCommit {
  const messages = [...open.summary.made, ...open.transcript.messages];
  return {
    result: resultOf(open, end),
    messages:
      end.kind === 'completed' ? messages : closeTranscript(open.turn.turnId, messages, end.error),
    skills: {
      state: open.skillState.get(),
      listedTools: open.toolbox.listedNames,
      pins: open.pins,
    },
    workspace: open.workspace.version,
    resultTtlSeconds: deps.resultTtlSeconds,
    sessionTtlSeconds: deps.sessionTtlSeconds,
  };
}

/** What a turn leaves behind that ended before this attempt's first step: its message, and what the attempts before have done. */
export function unstartedCommit(
  deps: TurnDeps,
  turn: ClaimedTurn,
  end: FinalEnd,
  done: DoneSoFar,
): TurnCommit {
  const error =
    end.kind === 'completed' ? new SkillmillError('INTERNAL', 'The turn never began.') : end.error;
  const status = end.kind === 'completed' ? 'failed' : end.kind;
  const { input, files, metadata = {} } = turn.request;
  const told = { ...turn, metadata };
  return {
    result: unstartedResult(told, status, error, { attempts: turn.attempt, done }),
    messages: closeTranscript(
      turn.turnId,
      [userMessage(turn.turnId, input, files), ...done.messages],
      error,
    ),
    skills: undefined,
    workspace: done.workspace,
    resultTtlSeconds: deps.resultTtlSeconds,
    sessionTtlSeconds: deps.sessionTtlSeconds,
  };
}

function outputOf(end: FinalEnd): Pick<TurnResult, 'output' | 'parsed'> {
  if (end.kind !== 'completed') return { output: '' };
  const { text, parsed } = end.answer;
  return parsed === undefined ? { output: text } : { output: text, parsed };
}

function resultOf(open: OpenTurn, end: FinalEnd): TurnResult {
  const { turn, transcript, limits } = open;
  return {
    turnId: turn.turnId,
    sessionId: turn.sessionId,
    status: end.kind,
    ...outputOf(end),
    error: end.kind === 'completed' ? null : end.error.toPublic(),
    toolCalls: transcript.toolCalls,
    artifacts: [...open.artifacts.saved],
    usage: { ...limits.usage, ...open.budget.cost },
    timings: {
      queuedMs: turn.startedAt - turn.acceptedAt,
      modelMs: Math.round(transcript.modelMs),
      toolMs: Math.round(transcript.toolMs),
      totalMs: Math.max(0, Date.now() - turn.acceptedAt),
    },
    attempts: turn.attempt,
    skills: [...open.used].map(([name, digest]) => ({ name, digest })),
    ...(turn.retryOf !== undefined && { retryOf: turn.retryOf }),
    metadata: turn.request.metadata ?? {},
  };
}
