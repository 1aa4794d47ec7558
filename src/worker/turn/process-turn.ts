import pRetry from 'p-retry';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ClaimOutcome } from '../../shared/queue/turn-consumer.js';
import type { TurnPointer } from '../../shared/queue/turn-queue.js';
import { readTurn } from '../../shared/results/turn-store.js';
import { readSession } from '../../shared/session/session-store.js';
import { LimitKeeper } from '../agent/turn-limits.js';
import { createEventSink, type EventSink } from '../publish/event-sink.js';
import { commitTurn, type TurnCommit } from '../session/commit-turn.js';
import { untilAbort } from '../async/until-abort.js';
import { claimTurn, type Claim, type Lease } from '../session/lease.js';
import { createAttemptSignal } from './attempt-signal.js';
import { earlierSteps } from './earlier-steps.js';
import { openTurn } from './open-turn.js';
import { endOf, runTurn, type AttemptEnd, type FinalEnd } from './run-turn.js';
import { turnInputs } from './turn-inputs.js';
import { commitOf, unstartedCommit } from './turn-result.js';
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
  const { lease } = claim;
  const events = createEventSink({
    client: deps.redis,
    proof: lease.proof,
    isHeld: () => !lease.isLost,
    onLost: () => lease.lost(),
    onFault: (error) => logFault(deps, turn, 'a step was not written, and is tried again', error),
  });
  let turn = claimedTurn(pointer, claim);
  try {
    if (turn.countedAttempt > maxAttempts) throw workerLost();
    const { request } = await readTurn(deps.redis, pointer.tenant, pointer.turnId);
    turn = { ...turn, request };
    return await attemptTurn(deps, lease, turn, events);
  } catch (error) {
    return await settle(deps, lease, turn, { end: endOf(error, deps.redact), events });
  } finally {
    lease.stop();
  }
}

type Claimed = Extract<Claim, { outcome: 'claimed' }>;

/** The turn as the claim tells it; its request is read next, and may prove unreadable. */
function claimedTurn(pointer: TurnPointer, claim: Claimed): ClaimedTurn {
  const { attempt, handOvers, acceptedAt, startedAt, elapsedMs } = claim;
  return {
    ...pointer,
    request: { input: '', files: [] },
    attempt,
    countedAttempt: attempt - handOvers,
    acceptedAt,
    startedAt,
    elapsedMs,
  };
}

async function attemptTurn(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  events: EventSink,
): Promise<ClaimOutcome> {
  const limits = new LimitKeeper(turn.request.limits ?? {}, deps.defaultLimits);
  const attempt = createAttemptSignal(
    [lease.signal, deps.handOver],
    limits.turnTimeoutMs,
    turn.elapsedMs,
  );
  try {
    const session = await readSession(deps.redis, turn.tenant, turn.sessionId);
    const { signal } = attempt;
    const inputs = await turnInputs(deps, turn, { lease, session, signal });
    const skills = await untilAbort(deps.openSkills(turn), signal);
    const replay = await earlierSteps(deps, turn, { lease, events });
    const open = await openTurn(deps, {
      turn,
      session,
      inputs,
      skills,
      replay,
      limits,
      events,
      signal,
    });
    const end = await runTurn(deps, open, signal);
    return await settle(deps, lease, turn, {
      end,
      events,
      commit: (final) => commitOf(deps, open, final),
    });
  } finally {
    attempt.dispose();
  }
}

interface Settling {
  readonly end: AttemptEnd;
  readonly events: EventSink;
  /** What the end leaves behind; without it the turn was not begun. */
  readonly commit?: (end: FinalEnd) => TurnCommit;
}

/** Acts on an attempt's end: a result, another try, or a step aside. */
async function settle(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  { end, events, commit = (final) => unstartedCommit(deps, turn, final) }: Settling,
): Promise<ClaimOutcome> {
  if (end.kind !== 'lease_lost') await events.flush();
  switch (end.kind) {
    case 'lease_lost':
      return done;
    case 'hand_over':
      await lease.release('hand_over');
      return { kind: 'delay', ms: 1 };
    case 'retry':
      return turn.countedAttempt < maxAttempts
        ? await retryLater(deps, lease, turn, { error: end.error, events })
        : await finish(deps, lease, turn, commit({ kind: 'failed', error: end.error }));
    case 'completed':
    case 'failed':
    case 'cancelled':
      return await finish(deps, lease, turn, commit(end));
  }
}

async function finish(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  commit: TurnCommit,
): Promise<ClaimOutcome> {
  const { outcome, head } = await commitPatiently(deps, lease, commit);
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
  if (outcome !== 'lost') await countSkills(deps, turn, commit);
  return done;
}

/** A turn that is done is not run again because Redis is full or away for a moment: the commit is tried while the lease may hold. */
function commitPatiently(
  deps: TurnDeps,
  lease: Lease,
  commit: TurnCommit,
): ReturnType<typeof commitTurn> {
  return pRetry(() => commitTurn(deps.redis, lease.proof, commit), {
    retries: 20,
    minTimeout: 500,
    factor: 1.2,
    maxTimeout: 5000,
    shouldRetry: ({ error }) =>
      error instanceof SkillmillError && error.code === 'REDIS_UNAVAILABLE' && !lease.isLost,
  });
}

async function retryLater(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  { error, events }: { readonly error: SkillmillError; readonly events: EventSink },
): Promise<ClaimOutcome> {
  logFault(deps, turn, 'the attempt failed and is made again', error);
  const ms = firstRetryPauseMs * 2 ** (turn.countedAttempt - 1);
  events.emit({ type: 'turn.retrying', error: error.toPublic(), afterMs: ms });
  await events.flush();
  await lease.release('retry');
  return { kind: 'delay', ms };
}

/** The turn has its result: a report that misses it is no reason to fail. */
async function countSkills(deps: TurnDeps, turn: ClaimedTurn, commit: TurnCommit): Promise<void> {
  await deps.ledger.countSkills(turn.tenant, commit.result).catch((error: unknown) => {
    logFault(deps, turn, 'the turn’s skills were not counted', SkillmillError.from(error));
  });
}

function workerLost(): SkillmillError {
  return new SkillmillError(
    'WORKER_LOST',
    `The turn was begun ${maxAttempts} times, and each time its worker was lost. Look at the workers' memory and logs, then enqueue it again.`,
  );
}

function logFault(deps: TurnDeps, turn: ClaimedTurn, what: string, error: SkillmillError): void {
  const { turnId, sessionId, attempt } = turn;
  const { code, message: reason } = error;
  // A fault of our own is told once with its stack; nobody else sees it.
  const stack = code === 'INTERNAL' && error.cause instanceof Error ? error.cause.stack : undefined;
  deps.logger.log('warn', what, { turnId, sessionId, attempt, code, reason, stack });
}
