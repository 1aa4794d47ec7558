import type { ToolCallRecord, ToolMessage, TurnEventBody } from '../../shared/contracts/index.js';
import type { TurnAnswer } from './agent-ports.js';

/** A tool call with its answer. */
export interface AnsweredCall {
  readonly message: ToolMessage;
  readonly record: ToolCallRecord;
}

/** A call on its way. */
export interface BegunCall {
  /** How often it was begun, this time included. */
  readonly attempt: number;
  /** Journals its answer and what it changed; nobody waits for that. */
  end(answered: AnsweredCall, event: TurnEventBody): void;
  /** It came to no answer: it is told of, and not journalled. */
  giveUp(event: TurnEventBody): void;
}

/** What the loop asks of a turn's journal, and tells it: a step that is in it is not made again, and not published again. */
export interface LoopJournal {
  /** Journals a model's answer; returns when it is durable. @throws SkillmillError LEASE_LOST */
  reply(
    answer: TurnAnswer & { readonly messageId: string; readonly ms: number },
    events: readonly TurnEventBody[],
  ): Promise<void>;
  /** The answer of a call that is finished; what the call changed is changed again. */
  answered(callId: string): AnsweredCall | undefined;
  /** Journals that a call begins; returns when that is durable. @throws SkillmillError LEASE_LOST */
  begin(callId: string, event: (attempt: number) => TurnEventBody): Promise<BegunCall>;
}
