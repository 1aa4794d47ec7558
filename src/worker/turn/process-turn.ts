import { turnIdSchema } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ClaimOutcome } from '../../shared/queue/turn-consumer.js';
import type { TurnPointer } from '../../shared/queue/turn-queue.js';
import { doneSoFar } from '../../shared/journal/done-so-far.js';
import { parseStored } from '../../shared/redis/parse-stored.js';
import { storedRequestSchema } from '../../shared/results/stored-request.js';
import { sessionOf } from '../../shared/session/session-store.js';
import { LimitKeeper } from '../agent/turn-limits.js';
import { untilAbort } from '../async/until-abort.js';
import { createEventSink } from '../publish/event-sink.js';
import { JournalReplay } from '../session/journal-replay.js';
import { claimTurn, type Claim } from '../session/lease.js';
import { createAttemptSignal } from './attempt-signal.js';
import { EarlierSteps } from './earlier-steps.js';
import { openTurn, type OpenTurnParts } from './open-turn.js';
import { endOf, runTurn, type FinalEnd } from './run-turn.js';
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
  const earlier = new EarlierSteps(deps, { lease, events });
  let turn = claimedTurn(pointer, claim);
  try {
    turn = {
      ...turn,
      request: parseStored(storedRequestSchema, claim.request),
      retryOf: turnIdSchema.optional().parse(claim.retryOf),
    };
    if (turn.fruitless > deps.maxAttempts) throw workerLost(deps.maxAttempts);
    const session = sessionOf(claim.session);
    return await attemptTurn(deps, turn, { lease, events, earlier, session });
  } catch (error) {
    return await endUnbegun(deps, turn, { lease, events, earlier, error });
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

interface AttemptParts extends Pick<OpenTurnParts, 'lease' | 'events' | 'session'> {
  readonly earlier: EarlierSteps;
}

async function attemptTurn(
  deps: TurnDeps,
  turn: ClaimedTurn,
  { lease, events, earlier, session }: AttemptParts,
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
    const replay = new JournalReplay(turn.turnId, await earlier.read(turn));
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

/** Acts on the end of an attempt that came to no step of its own: what the attempts before have done is kept. */
async function endUnbegun(
  deps: TurnDeps,
  turn: ClaimedTurn,
  parts: Omit<AttemptParts, 'session'> & { readonly error: unknown },
): Promise<ClaimOutcome> {
  const { lease, events, earlier } = parts;
  const end = endOf(parts.error, deps.redact);
  if (end.kind === 'lease_lost') return done;
  const entries = await earlier.read(turn).catch((error: unknown) => {
    logFault(deps, turn, 'what the turn has done could not be read', SkillmillError.from(error));
    return [];
  });
  const before = doneSoFar(turn.turnId, entries);
  const commit = (final: FinalEnd) => unstartedCommit(deps, turn, final, before);
  return (await settle(deps, lease, turn, { end, events, commit })) ?? done;
}

function workerLost(maxAttempts: number): SkillmillError {
  return new SkillmillError(
    'WORKER_LOST',
    `The turn was begun ${maxAttempts} times without getting further, and each time its worker was lost. Look at the workers' memory and logs, then try it again: skillmill retry.`,
  );
}
