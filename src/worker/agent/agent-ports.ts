import type { Message, ToolCallRecord, ToolMessage, TurnId } from '../../shared/contracts/index.js';
import type { ModelAnswer, RetryHooks } from '../model/model-retry.js';
import type { EventSink } from '../publish/event-sink.js';
import type { CallToolOptions } from './call-tool.js';
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

export interface AgentPorts {
  readonly turnId: TurnId;
  readonly attempt: number;
  readonly limits: LimitKeeper;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  /** One model call for this turn's messages so far, with all its retries. */
  readonly callModel: (options: AskOptions, hooks: RetryHooks) => Promise<ModelAnswer>;
  /** Called with each tool result before the next request is built. */
  readonly onToolMessage: (message: ToolMessage) => Promise<void>;
  readonly checkOutput: OutputCheck;
  readonly toolOptions: Omit<CallToolOptions, 'callId' | 'isCut'>;
}
