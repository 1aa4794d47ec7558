import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Redactor } from '../../shared/logging/redactor.js';
import { isThrottled } from '../model/throttled.js';
import { runAgent } from '../agent/run-agent.js';
import type { FinalAnswer } from '../agent/output-check.js';
import { createOutputCheck } from '../agent/output-check.js';
import type { AttemptSignal } from './attempt-signal.js';
import { TurnModel } from './turn-model.js';
import { loadDeclared } from './load-declared.js';
import type { OpenTurn } from './open-turn.js';
import type { TurnDeps } from './turn-deps.js';

/** An end that leaves a result. */
export type FinalEnd = Extract<AttemptEnd, { kind: 'completed' | 'failed' | 'cancelled' }>;

/** How an attempt ended. */
export type AttemptEnd =
  | { readonly kind: 'completed'; readonly answer: FinalAnswer }
  | { readonly kind: 'failed' | 'cancelled'; readonly error: SkillmillError }
  /** An infrastructure failure: the turn is tried again. */
  | { readonly kind: 'retry'; readonly error: SkillmillError }
  /** An endpoint asks for a pause: the turn gives its slot up for so long. */
  | { readonly kind: 'throttled'; readonly error: SkillmillError }
  /** This worker stops; another goes on. */
  | { readonly kind: 'hand_over' }
  /** Another worker has the session; nothing more is written. */
  | { readonly kind: 'lease_lost' };

/** Runs one attempt of a turn, and gives back its sandbox on every path out. */
export async function runTurn(
  deps: TurnDeps,
  open: OpenTurn,
  attempt: AttemptSignal,
): Promise<AttemptEnd> {
  const { signal, keeping } = attempt;
  try {
    if (!open.isBegun) await loadDeclared(open);
    open.isBegun = true;
    const answer = await converse(deps, open, signal);
    await open.workspace.finish();
    await open.journal.settle();
    return { kind: 'completed', answer };
  } catch (thrown) {
    const end = endOf(signal.aborted ? signal.reason : thrown, deps.redact);
    attempt.endSoon();
    if (!keeping.aborted) await keepWhatIsDone(deps, open);
    // What this attempt has done is there for the next one.
    if (end.kind !== 'lease_lost') await open.journal.settle();
    return end;
  } finally {
    await open.workspace.close().catch((error: unknown) => {
      // The sweep removes it later; the turn's own end is not lost for it.
      deps.logger.log('warn', 'a sandbox could not be removed', {
        turnId: open.turn.turnId,
        reason: SkillmillError.from(error).message,
      });
    });
  }
}

/** What finished commands have left stays, whatever ended the attempt; that is no second reason to fail. */
async function keepWhatIsDone(deps: TurnDeps, { turn, workspace }: OpenTurn): Promise<void> {
  await workspace.keepFinished().catch((error: unknown) => {
    deps.logger.log('warn', 'the session’s files are as the last checkpoint has them', {
      turnId: turn.turnId,
      reason: SkillmillError.from(error).message,
    });
  });
}

function converse(deps: TurnDeps, open: OpenTurn, signal: AbortSignal): Promise<FinalAnswer> {
  const model = new TurnModel(deps, open);
  const { turn, limits, events, skills, skillState, workspace, artifacts, onSkillUsed } = open;
  return runAgent(open.transcript, {
    turnId: turn.turnId,
    attempt: turn.attempt,
    limits,
    events,
    signal,
    stepAside: deps.handOver.atNextStep,
    callModel: (options, hooks) => {
      workspace.checkpoint();
      return model.call(options, hooks);
    },
    takeMessages: () => open.journal.takeMessages(),
    journal: open.journal,
    checkOutput: createOutputCheck(turn.request.responseFormat),
    onToolMessage: async (message) => {
      if (message.shows !== undefined) await open.content.prepare(message.shows);
      open.shown.onToolMessage(message);
    },
    toolOptions: {
      turnId: turn.turnId,
      journal: open.journal,
      belt: open.belt,
      onFault: (error) => logToolFault(deps, turn.turnId, error),
      newly: (shown) => open.shown.newly(shown),
      events,
      redact: deps.redact,
      context: {
        signal,
        skills,
        skillState,
        workspace,
        artifacts,
        pins: open.pins,
        toolbox: open.toolbox,
        blobs: open.blobs,
        onSkillUsed,
      },
    },
  });
}

function logToolFault(deps: TurnDeps, turnId: string, error: SkillmillError): void {
  const stack = error.cause instanceof Error ? error.cause.stack : undefined;
  deps.logger.log('error', 'a tool failed by a fault of ours', {
    turnId,
    reason: error.message,
    stack,
  });
}

/** What an error means for the attempt; the codes' own policy says which are tried again. */
export function endOf(thrown: unknown, redact: Redactor): AttemptEnd {
  const error = redact.error(SkillmillError.from(thrown));
  if (error.code === 'LEASE_LOST') return { kind: 'lease_lost' };
  if (error.code === 'CANCELLED') return { kind: 'cancelled', error };
  if (error.code === 'HANDED_OVER') return { kind: 'hand_over' };
  if (isThrottled(error)) return { kind: 'throttled', error };
  return { kind: error.failsAttempt ? 'retry' : 'failed', error };
}
