import type { Message, ToolCallRecord, ToolMessage, TurnId } from '../../shared/contracts/index.js';
import type { AnsweredCall, RetryHooks } from '../model/model-retry.js';
import type { EventSink } from '../publish/event-sink.js';
import { answerCalls } from './answer-calls.js';
import { askModel, outputLimit, type AskOptions } from './ask-model.js';
import type { CallToolOptions } from './call-tool.js';
import { nextStep } from './next-step.js';
import type { FinalAnswer, OutputCheck } from './output-check.js';
import type { LimitKeeper } from './turn-limits.js';

/** A turn's own record: it grows by one message a step, and is what a failed turn leaves in the history. */
export interface Transcript {
  /** This turn's messages, the user's first. */
  readonly messages: Message[];
  readonly toolCalls: ToolCallRecord[];
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
  readonly callModel: (options: AskOptions, hooks: RetryHooks) => Promise<AnsweredCall>;
  /** Called with each tool result before the next request is built. */
  readonly onToolMessage: (message: ToolMessage) => Promise<void>;
  readonly checkOutput: OutputCheck;
  readonly toolOptions: Omit<CallToolOptions, 'callId' | 'isCut'>;
}

/** What a model is asked when its answer was cut at its output limit. */
const goOn = 'Your answer was cut off. Go on exactly where it stopped; repeat nothing.';

/** The loop: one step after another until the final answer. @throws SkillmillError LIMIT_EXCEEDED, LOOP_DETECTED, OUTPUT_INVALID, MODEL_*; the signal's reason */
export async function runAgent(transcript: Transcript, ports: AgentPorts): Promise<FinalAnswer> {
  const { messages } = transcript;
  for (;;) {
    ports.signal.throwIfAborted();
    const step = nextStep(messages);
    switch (step.kind) {
      case 'call_model':
        await askModel(transcript, ports, { lastChance: ports.limits.isLastChance });
        break;
      case 'call_tools':
        await answerCalls(step.calls, transcript, ports);
        break;
      case 'go_on':
        if (wasAsked(messages, goOn)) throw outputLimit();
        messages.push({ turnId: ports.turnId, role: 'user', content: goOn });
        break;
      case 'final': {
        const checked = ports.checkOutput(step.text);
        if (checked.kind === 'answer') return checked.answer;
        if (wasAsked(messages, checked.complaint)) throw checked.error;
        messages.push({ turnId: ports.turnId, role: 'user', content: checked.complaint });
        break;
      }
    }
  }
}

/** Was the model asked for this in the turn already? The first message is the user's own. */
function wasAsked(messages: readonly Message[], text: string): boolean {
  const opening = text.slice(0, 60);
  return messages
    .slice(1)
    .some(
      ({ role, content }) =>
        role === 'user' && typeof content === 'string' && content.startsWith(opening),
    );
}
