import type { Message, ToolCallRecord, ToolMessage, TurnId } from '../../shared/contracts/index.js';
import type { ModelAnswer, RetryHooks } from '../model/model-retry.js';
import type { EventSink } from '../publish/event-sink.js';
import type { CallToolOptions } from './call-tool.js';
import type { LoopJournal } from './loop-journal.js';
import type { OutputCheck } from './output-check.js';
import type { LimitKeeper } from './turn-limits.js';

/** How a model call is to be made. */
export interface AskOptions {
  /** No tools: the model is to answer with what there is. */
  readonly lastChance: boolean;
}

/** A turn's own record: it grows by one message a step, and is what a failed turn leaves in the history. */
export interface Transcript {
  /** This turn's messages, the user's first. */
  readonly messages: Message[];
  readonly toolCalls: ToolCallRecord[];
  /** What the model was asked to mend: each is asked once. */
  readonly asked: Set<'go_on' | 'form'>;
  modelMs: number;
  toolMs: number;
}

/** A model's answer, made now or by an attempt before. */
export interface TurnAnswer extends ModelAnswer {
  /** Tokens to which the conversation was shortened since the endpoint refused it. */
  readonly shrunkTo: readonly number[];
  /** What the call took when an attempt before made it; undefined when it was made now. */
  readonly journalledMs?: number;
}

export interface AgentPorts {
  readonly turnId: TurnId;
  readonly attempt: number;
  readonly limits: LimitKeeper;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  /** Aborted when no further step is to begin here: another worker goes on. */
  readonly stepAside: AbortSignal;
  /** One model call for this turn's messages so far, with all its retries. */
  readonly callModel: (options: AskOptions, hooks: RetryHooks) => Promise<TurnAnswer>;
  /** Called with each tool result before the next request is built. */
  readonly onToolMessage: (message: ToolMessage) => Promise<void>;
  /** Messages that have joined the turn since it was asked last; in a replay those of the journal, in their places. */
  readonly takeMessages: () => Promise<readonly Message[]>;
  readonly journal: LoopJournal;
  readonly checkOutput: OutputCheck;
  readonly toolOptions: Omit<CallToolOptions, 'callId' | 'isCut'>;
}
