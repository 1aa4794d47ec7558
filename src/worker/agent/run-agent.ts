import type {
  Message,
  ToolCall,
  ToolCallRecord,
  ToolMessage,
  TurnId,
} from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Model, ModelReply, ModelRequest } from '../model/model.js';
import { callWithRetries } from '../model/model-retry.js';
import type { EventSink } from '../publish/event-sink.js';
import type { LimitKeeper } from './turn-limits.js';
import { callTool, UnfinishedCall, type CallToolOptions } from './call-tool.js';
import { nextStep } from './next-step.js';

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
  readonly model: Model;
  readonly limits: LimitKeeper;
  readonly events: EventSink;
  readonly signal: AbortSignal;
  /** The request for this turn's messages so far. */
  readonly buildRequest: () => ModelRequest;
  /** Called with each tool result before the next request is built. */
  readonly onToolMessage: (message: ToolMessage) => Promise<void>;
  readonly toolOptions: Omit<CallToolOptions, 'callId'>;
}

/** The loop: one step after another until the final answer. @throws SkillmillError LIMIT_EXCEEDED, MODEL_*; the signal's reason */
export async function runAgent(transcript: Transcript, ports: AgentPorts): Promise<string> {
  for (;;) {
    ports.signal.throwIfAborted();
    const step = nextStep(transcript.messages);
    switch (step.kind) {
      case 'final':
        return step.text;
      case 'call_model':
        transcript.messages.push(await askModel(transcript, ports));
        break;
      case 'call_tool':
        ports.limits.beginToolCall();
        await answer(step.call, transcript, ports);
        break;
    }
  }
}

async function answer(call: ToolCall, transcript: Transcript, ports: AgentPorts): Promise<void> {
  const startedAt = performance.now();
  const callId = `call_${transcript.toolCalls.length + 1}`;
  try {
    const answered = await callTool(call, { ...ports.toolOptions, callId });
    await ports.onToolMessage(answered.message);
    transcript.toolCalls.push(answered.record);
    transcript.messages.push(answered.message);
  } catch (error) {
    if (!(error instanceof UnfinishedCall)) throw error;
    transcript.toolCalls.push(error.record);
    throw error.cause;
  } finally {
    transcript.toolMs += performance.now() - startedAt;
  }
}

async function askModel(transcript: Transcript, ports: AgentPorts): Promise<Message> {
  const reply = (await oneReply(transcript, ports)) ?? (await oneReply(transcript, ports));
  if (reply === undefined) {
    throw new SkillmillError(
      'MODEL_PROTOCOL',
      'The model answered twice with neither text nor a tool call.',
    );
  }
  const firstCall = transcript.toolCalls.length + 1;
  ports.events.emit({
    type: 'message.completed',
    text: reply.text,
    toolCallIds: reply.toolCalls.map((_, index) => `call_${firstCall + index}`),
  });
  return {
    turnId: ports.turnId,
    role: 'assistant',
    content: reply.text === '' ? null : reply.text,
    toolCalls: [...reply.toolCalls],
    ...(reply.reasoning === undefined ? {} : { reasoning: reply.reasoning }),
  };
}

/** One model call with its retries; undefined when the reply holds nothing. */
async function oneReply(
  transcript: Transcript,
  ports: AgentPorts,
): Promise<ModelReply | undefined> {
  ports.limits.beginModelCall();
  const startedAt = performance.now();
  try {
    const reply = await callWithRetries(ports.model, ports.buildRequest(), {
      signal: ports.signal,
      onRetry: (error, afterMs) =>
        ports.events.emit({ type: 'turn.retrying', error: error.toPublic(), afterMs }),
    });
    ports.limits.addTokens(reply.usage);
    return reply.toolCalls.length === 0 && reply.text.trim() === '' ? undefined : reply;
  } finally {
    transcript.modelMs += performance.now() - startedAt;
  }
}
