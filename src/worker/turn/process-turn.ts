import { turnIdSchema } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ClaimOutcome } from '../../shared/queue/turn-consumer.js';
import type { TurnPointer } from '../../shared/queue/turn-queue.js';
import { doneSoFar } from '../../shared/journal/done-so-far.js';
import { readJournal } from '../../shared/journal/read-journal.js';
import { parseStored } from '../../shared/redis/parse-stored.js';
import { storedRequestSchema } from '../../shared/results/stored-request.js';
import { sessionOf } from '../../shared/session/session-store.js';
import { LimitKeeper } from '../agent/turn-limits.js';
import { untilAbort } from '../async/until-abort.js';
import { createEventSink, type EventSink } from '../publish/event-sink.js';
import { claimTurn, type Claim, type Lease } from '../session/lease.js';
import { createAttemptSignal } from './attempt-signal.js';
import { earlierSteps } from './earlier-steps.js';
import { openTurn, type OpenTurnParts } from './open-turn.js';
import { endOf, runTurn } from './run-turn.js';
import { logFault, settle } from './settle-turn.js';
import { turnInputs } from './turn-inputs.js';
import { commitOf, unstartedCommit } from './turn-result.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

const done: ClaimOutcome = { kind: 'done' };

/** The story of one job: claim, run, commit, wake the next turn of the session. */
export async function processTurn(deps: TurnDeps, pointer: TurnPointer): Promise<ClaimOutcome> {
  const claim = await claimTurn(deps.redis, pointer, deps.workerId);
  if (claim.outcome === 'held' || claim.outcome === 'delayed') {
    return { kind: 'delay', ms: claim.msLeft + 1 };
  }
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
    turn = {
      ...turn,
      request: parseStored(storedRequestSchema, claim.request),
      retryOf: turnIdSchema.optional().parse(claim.retryOf),
    };
    if (turn.fruitless > deps.maxAttempts) return await giveUp(deps, lease, turn, events);
    return await attemptTurn(deps, turn, { lease, events, session: sessionOf(claim.session) });
  } catch (error) {
    const settled = await settle(deps, lease, turn, { end: endOf(error, deps.redact), events });
    return settled ?? done;
  } finally {
    lease.stop();
  }
}

type Claimed = Extract<Claim, { outcome: 'claimed' }>;

/** The turn as the claim tells it; its request is looked at next, and may prove unreadable. */
function claimedTurn(pointer: TurnPointer, claim: Claimed): ClaimedTurn {
  const { attempt, fruitless, throttled, acceptedAt, startedAt, elapsedMs } = claim;
  return {
    ...pointer,
    ...{ attempt, fruitless, throttled, acceptedAt, startedAt, elapsedMs },
    request: { input: '', files: [] },
    retryOf: undefined,
  };
}

async function attemptTurn(
  deps: TurnDeps,
  turn: ClaimedTurn,
  { lease, events, session }: Pick<OpenTurnParts, 'lease' | 'events' | 'session'>,
): Promise<ClaimOutcome> {
  const limits = new LimitKeeper(turn.request.limits ?? {}, deps.defaultLimits);
  const attempt = createAttemptSignal(
    [lease.signal, deps.handOver.atOnce],
    limits.turnTimeoutMs,
    turn.elapsedMs,
  );
  try {
    const { signal } = attempt;
    const inputs = await turnInputs(deps, turn, { lease, session, signal });
    const skills = await untilAbort(deps.openSkills(turn), signal);
    const replay = await earlierSteps(deps, turn, { lease, events });
    const parts = {
      turn,
      lease,
      attempt,
      session,
      inputs,
      skills,
      replay,
      limits,
      events,
    };
    const open = await openTurn(deps, parts);
    for (;;) {
      const end = await runTurn(deps, open, attempt);
      const settled = await settle(deps, lease, turn, {
        end,
        events,
        commit: (final) => commitOf(deps, open, final),
      });
      if (settled !== undefined) return settled;
      open.journal.expectMessages();
    }
  } finally {
    attempt.dispose();
  }
}

/** Ends a turn that does not get further, with what its attempts have done. */
async function giveUp(
  deps: TurnDeps,
  lease: Lease,
  turn: ClaimedTurn,
  events: EventSink,
): Promise<ClaimOutcome> {
  const { entries, openMessages } = await readJournal(
    deps.redis,
    lease.proof.keys,
    deps.blobsOf(turn),
  );
  events.discard(openMessages);
  const done = doneSoFar(turn.turnId, entries);
  const settled = await settle(deps, lease, turn, {
    end: { kind: 'failed', error: workerLost(deps.maxAttempts) },
    events,
    commit: (final) => unstartedCommit(deps, turn, final, done),
  });
  return settled ?? { kind: 'done' };
}

function workerLost(maxAttempts: number): SkillmillError {
  return new SkillmillError(
    'WORKER_LOST',
    `The turn was begun ${maxAttempts} times without getting further, and each time its worker was lost. Look at the workers' memory and logs, then try it again: skillmill retry.`,
  );
}
