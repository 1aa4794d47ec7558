import pRetry from 'p-retry';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ClaimOutcome } from '../../shared/queue/turn-consumer.js';
import type { EventSink } from '../publish/event-sink.js';
import { confirmReplicas } from '../../shared/redis/confirm-replicas.js';
import { commitTurn, type CommitReply, type TurnCommit } from '../session/commit-turn.js';
import { cancelled, type Lease, type Release } from '../session/lease.js';
import { pauseAfter } from './retry-pause.js';
import type { AttemptEnd, FinalEnd } from './run-turn.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

const done: ClaimOutcome = { kind: 'done' };
const handOver: Release = {
  why: 'hand_over',
  pauseMs: 0,
  event: { type: 'turn.parked', reason: 'hand_over', afterMs: 0 },
};

/** How an attempt ended, and how that is told. */
export interface Settling {
  readonly end: AttemptEnd;
  readonly events: EventSink;
  /** What the end leaves behind. */
  readonly commit: (end: FinalEnd) => TurnCommit;
}

/** Acts on an attempt's end: a result, another attempt, or a step aside. Undefined: a message has joined the turn, which goes on.
 *  @throws SkillmillError REDIS_UNAVAILABLE */
export async function settle(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  settling: Settling,
): Promise<ClaimOutcome | undefined> {
  const { end, events, commit } = settling;
  const release = async (how: Release): Promise<ClaimOutcome | undefined> => {
    if (await lease.release(how)) return { kind: 'delay', ms: how.pauseMs };
    return await finish(deps, lease, turn, commit({ kind: 'cancelled', error: cancelled() }));
  };
  if (end.kind !== 'lease_lost') await events.flush();
  switch (end.kind) {
    case 'lease_lost':
      return done;
    case 'hand_over':
      return await release(handOver);
    case 'retry':
    case 'throttled': {
      const next = nextAttempt(deps, turn, { ...end, hasProgress: events.hasProgress });
      if (next === undefined) {
        return await finish(deps, lease, turn, commit({ kind: 'failed', error: end.error }));
      }
      logFault(deps, turn, 'the attempt failed and is made again', end.error);
      return await release(next);
    }
    case 'completed':
    case 'failed':
    case 'cancelled':
      return await finish(deps, lease, turn, commit(end));
  }
}

type Passing = Extract<AttemptEnd, { kind: 'retry' | 'throttled' }>;

/** How the turn is tried again; undefined when its tries are spent, or its time would be over before. */
function nextAttempt(
  deps: TurnDeps,
  turn: ClaimedTurn,
  { kind, error, hasProgress }: Passing & { readonly hasProgress: boolean },
): Release | undefined {
  const before = kind === 'retry' ? turn.fruitless : turn.throttled + 1;
  const tries = hasProgress ? 1 : before;
  const most = kind === 'retry' ? deps.maxAttempts - 1 : deps.maxWaits;
  if (tries > most) return undefined;
  const pauseMs = pauseAfter(tries, error);
  const { turnTimeoutMs = deps.defaultLimits.turnTimeoutMs } = turn.request.limits ?? {};
  if (turn.elapsedMs + pauseMs > turnTimeoutMs) return undefined;
  const told = { error: error.toPublic(), afterMs: pauseMs };
  return { why: kind, pauseMs, event: { type: 'turn.retrying', ...told } };
}

async function finish(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  commit: TurnCommit,
): Promise<ClaimOutcome | undefined> {
  const { outcome, head } = await commitPatiently(deps, lease, commit);
  if (outcome === 'unread') return undefined;
  lease.stop();
  deps.logger.log('info', `turn ${outcome === 'committed' ? commit.result.status : outcome}`, {
    turnId: turn.turnId,
    sessionId: turn.sessionId,
    attempt: turn.attempt,
    code: commit.result.error?.code,
    totalMs: commit.result.timings.totalMs,
  });
  // What a fail-over may lose is told of: the turn has its result here.
  await confirmReplicas(deps.redis, lease.proof.keys.turn, { replicas: deps.waitReplicas }).catch(
    (error: unknown) =>
      logFault(deps, turn, 'a result is not on the replicas', SkillmillError.from(error)),
  );
  // The sweep does this too, should this worker die right here.
  if (head !== undefined) await deps.queue.addHead(turn.tenant, turn.sessionId, head);
  if (outcome !== 'lost') await countSkills(deps, turn, commit);
  return done;
}

/** A turn that is done is not run again because Redis is full or away for a moment: the commit is tried while the lease may hold. */
function commitPatiently(deps: TurnDeps, lease: Lease, commit: TurnCommit): Promise<CommitReply> {
  return pRetry(() => commitTurn(deps.redis, lease.proof, commit), {
    retries: 20,
    minTimeout: 500,
    factor: 1.2,
    maxTimeout: 5000,
    shouldRetry: ({ error }) =>
      error instanceof SkillmillError && error.code === 'REDIS_UNAVAILABLE' && !lease.isLost,
  });
}

/** The turn has its result: a report that misses it is no reason to fail. */
async function countSkills(deps: TurnDeps, turn: ClaimedTurn, commit: TurnCommit): Promise<void> {
  await deps.ledger.countSkills(turn.tenant, commit.result).catch((error: unknown) => {
    logFault(deps, turn, 'the turn’s skills were not counted', SkillmillError.from(error));
  });
}

/** Tells the operator of a fault that the turn goes on after. */
export function logFault(
  deps: TurnDeps,
  turn: ClaimedTurn,
  what: string,
  error: SkillmillError,
): void {
  const { turnId, sessionId, attempt } = turn;
  const { code, message: reason } = error;
  // A fault of our own is told once with its stack; nobody else sees it.
  const stack = code === 'INTERNAL' && error.cause instanceof Error ? error.cause.stack : undefined;
  deps.logger.log('warn', what, { turnId, sessionId, attempt, code, reason, stack });
}
