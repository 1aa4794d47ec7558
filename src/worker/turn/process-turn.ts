import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ClaimOutcome } from '../../shared/queue/turn-consumer.js';
import type { TurnPointer } from '../../shared/queue/turn-queue.js';
import { readTurn } from '../../shared/results/turn-store.js';
import { unstartedResult } from '../../shared/results/unstarted-result.js';
import { readSession } from '../../shared/session/session-store.js';
import { LimitKeeper } from '../agent/turn-limits.js';
import { createEventSink } from '../publish/event-sink.js';
import { closeTranscript } from '../session/close-transcript.js';
import { commitTurn, type TurnCommit } from '../session/commit-turn.js';
import { claimTurn, type Lease } from '../session/lease.js';
import { emptySkillState } from '../session/skill-state.js';
import { createAttemptSignal } from './attempt-signal.js';
import { openTurn, userMessage } from './open-turn.js';
import { endOf, runTurn, type AttemptEnd } from './run-turn.js';
import { commitOf } from './turn-result.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

/** Claims of one turn before it is given up; a worker that dies counts as one. */
export const maxAttempts = 3;
const firstRetryPauseMs = 1000;
const done: ClaimOutcome = { kind: 'done' };

/** The story of one job: claim, run, commit, wake the next turn of the session. */
export async function processTurn(deps: TurnDeps, pointer: TurnPointer): Promise<ClaimOutcome> {
  const claim = await claimTurn(deps.redis, pointer, deps.workerId);
  if (claim.outcome === 'held') return { kind: 'delay', ms: claim.msLeft + 1 };
  if (claim.outcome !== 'claimed') return done;
  const { lease, attempt, acceptedAt, startedAt } = claim;
  const countedAttempt = attempt - claim.handOvers;
  try {
    const { request } = await readTurn(deps.redis, pointer.tenant, pointer.turnId);
    const turn = { ...pointer, request, attempt, countedAttempt, acceptedAt, startedAt };
    return countedAttempt > maxAttempts
      ? await commitAndWake(deps, lease, turn, unstarted(deps, turn, workerLost()))
      : await attemptTurn(deps, lease, turn);
  } finally {
    lease.stop();
  }
}

async function attemptTurn(deps: TurnDeps, lease: Lease, turn: ClaimedTurn): Promise<ClaimOutcome> {
  const events = createEventSink({
    client: deps.redis,
    proof: lease.proof,
    onLost: () => lease.lost(),
    onFault: (error) => logFault(deps, turn, 'an event was not published', error),
  });
  const limits = new LimitKeeper(turn.request.limits ?? {}, deps.defaultLimits);
  const attempt = createAttemptSignal([lease.signal, deps.handOver], limits.turnTimeoutMs);
  try {
    const session = await readSession(deps.redis, turn.tenant, turn.sessionId);
    const skills = await deps.openSkills(turn.request.allowedSkills);
    const { signal } = attempt;
    const open = await openTurn(deps, { turn, session, skills, limits, events, signal });
    const end = await runTurn(deps, open, signal);
    await events.flush();
    if (isFinal(end)) return await commitAndWake(deps, lease, turn, commitOf(deps, open, end));
    if (end.kind !== 'retry') return await stepAside(lease, end);
    if (turn.countedAttempt < maxAttempts) return await retryLater(deps, lease, turn, end.error);
    const failed = { kind: 'failed', error: end.error } as const;
    return await commitAndWake(deps, lease, turn, commitOf(deps, open, failed));
  } catch (error) {
    const end = endOf(error);
    if (end.kind === 'retry') return await retryLater(deps, lease, turn, end.error);
    if (!isFinal(end)) return await stepAside(lease, end);
    return await commitAndWake(
      deps,
      lease,
      turn,
      unstarted(deps, turn, SkillmillError.from(error)),
    );
  } finally {
    attempt.dispose();
  }
}

type FinalEnd = Extract<AttemptEnd, { kind: 'completed' | 'failed' | 'cancelled' }>;

function isFinal(end: AttemptEnd): end is FinalEnd {
  return end.kind === 'completed' || end.kind === 'failed' || end.kind === 'cancelled';
}

async function commitAndWake(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  commit: TurnCommit,
): Promise<ClaimOutcome> {
  const { outcome, head } = await commitTurn(deps.redis, lease.proof, commit);
  lease.stop();
  deps.logger.log('info', `turn ${outcome === 'committed' ? commit.result.status : outcome}`, {
    turnId: turn.turnId,
    sessionId: turn.sessionId,
    attempt: turn.attempt,
    code: commit.result.error?.code,
    totalMs: commit.result.timings.totalMs,
  });
  // The sweep does this too, should this worker die right here.
  if (head !== undefined) await deps.queue.addHead(turn.tenant, turn.sessionId, head);
  return done;
}

async function stepAside(
  lease: Lease,
  end: Extract<AttemptEnd, { kind: 'hand_over' | 'lease_lost' }>,
): Promise<ClaimOutcome> {
  if (end.kind === 'lease_lost') return done;
  await lease.release('hand_over');
  return { kind: 'delay', ms: 1 };
}

async function retryLater(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  error: SkillmillError,
): Promise<ClaimOutcome> {
  logFault(deps, turn, 'the attempt failed and is made again', error);
  await lease.release('retry');
  return { kind: 'delay', ms: firstRetryPauseMs * 2 ** (turn.countedAttempt - 1) };
}

/** The end of a turn that could not be run at all; its message stays in the history. */
function unstarted(deps: TurnDeps, turn: ClaimedTurn, error: SkillmillError): TurnCommit {
  const told = { ...turn, metadata: turn.request.metadata ?? {} };
  return {
    result: unstartedResult(told, 'failed', error, turn.attempt),
    messages: closeTranscript(turn.turnId, [userMessage(turn)], error),
    skillState: emptySkillState,
    listedTools: [],
    resultTtlSeconds: deps.resultTtlSeconds,
    sessionTtlSeconds: deps.sessionTtlSeconds,
  };
}

function workerLost(): SkillmillError {
  return new SkillmillError(
    'WORKER_LOST',
    `The turn was begun ${maxAttempts} times, and each time its worker was lost. Look at the workers' memory and logs, then enqueue it again.`,
  );
}

function logFault(deps: TurnDeps, turn: ClaimedTurn, what: string, error: SkillmillError): void {
  const { turnId, sessionId, attempt } = turn;
  deps.logger.log('warn', what, {
    turnId,
    sessionId,
    attempt,
    code: error.code,
    reason: error.message,
  });
}
