import type { AssistantMessage, TurnEventBody } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ModelReply } from '../model/model.js';
import type { AgentPorts, AskOptions, Transcript } from './agent-ports.js';
import { limitExceeded } from './turn-limits.js';

/**
 * One step of the model. A reply that holds nothing is asked for once more.
 * @throws SkillmillError LIMIT_EXCEEDED, MODEL_*, CONTEXT_OVERFLOW, CONTENT_FILTERED; the signal's reason
 */
export async function askModel(transcript: Transcript, ports: AgentPorts): Promise<void> {
  const again = (): AskOptions => ({ lastChance: ports.limits.isLastChance });
  let options = again();
  let answered = await oneReply(transcript, ports, options);
  if (answered.isEmpty) {
    options = again();
    answered = await oneReply(transcript, ports, options);
  }
  const { reply, model } = answered;
  if (answered.isEmpty) throw emptyReply(reply, options);
  const toolCalls = options.lastChance ? [] : reply.toolCalls;
  const message: AssistantMessage = {
    turnId: ports.turnId,
    role: 'assistant',
    content: reply.text === '' ? null : reply.text,
    toolCalls: [...toolCalls],
    model,
    ...(reply.reasoning === undefined ? {} : { reasoning: reply.reasoning }),
    ...(reply.extra === undefined ? {} : { extra: { ...reply.extra } }),
    ...(reply.finish === 'length' ? { cut: true } : {}),
  };
  transcript.messages.push(message);
  if (reply.finish === 'content_filter') {
    throw new SkillmillError(
      'CONTENT_FILTERED',
      'The model endpoint’s content filter ended the answer. Word the message differently.',
    );
  }
}

interface Answered {
  readonly reply: ModelReply;
  readonly model: string;
  readonly isEmpty: boolean;
}

/** One model call with its retries. */
async function oneReply(
  transcript: Transcript,
  ports: AgentPorts,
  options: AskOptions,
): Promise<Answered> {
  const { limits, events } = ports;
  limits.beginModelCall(options.lastChance);
  const messageId = `message_${ports.attempt}_${limits.usage.modelCalls}`;
  let hasDeltas = false;
  const discard = () => {
    if (hasDeltas) events.emit({ type: 'message.discarded', messageId });
    hasDeltas = false;
  };
  const startedAt = performance.now();
  let journalledMs: number | undefined;
  try {
    const answer = await ports.callModel(options, {
      signal: ports.signal,
      onText: (text) => {
        hasDeltas = true;
        events.delta(messageId, text);
      },
      onRetry: (error, afterMs) => {
        discard();
        events.emit({ type: 'turn.retrying', error: error.toPublic(), afterMs });
      },
    });
    journalledMs = answer.journalledMs;
    const { reply, model } = answer;
    const isEmpty =
      reply.text.trim() === '' &&
      (options.lastChance || reply.toolCalls.length === 0) &&
      reply.finish !== 'content_filter';
    if (journalledMs === undefined) {
      const ms = performance.now() - startedAt;
      const completed = completedEvent(messageId, reply, options, transcript);
      if (isEmpty) discard();
      await ports.journal.reply({ ...answer, messageId, ms }, isEmpty ? [] : [completed]);
    }
    return { reply, model, isEmpty };
  } catch (error) {
    discard();
    throw error;
  } finally {
    transcript.modelMs += journalledMs ?? performance.now() - startedAt;
  }
}

function completedEvent(
  messageId: string,
  reply: ModelReply,
  { lastChance }: AskOptions,
  transcript: Transcript,
): TurnEventBody {
  const firstCall = transcript.toolCalls.length + 1;
  const calls = lastChance ? [] : reply.toolCalls;
  const toolCallIds = calls.map((_, index) => `call_${firstCall + index}`);
  return { type: 'message.completed', messageId, text: reply.text, toolCallIds };
}

function emptyReply(reply: ModelReply, { lastChance }: AskOptions): SkillmillError {
  if (reply.finish === 'length') return outputLimit();
  if (lastChance) return limitExceeded('maxModelCalls', 'its model calls');
  return new SkillmillError(
    'MODEL_PROTOCOL',
    'The model answered twice with neither text nor a tool call. Try another model, or check that the endpoint supports tools.',
  );
}

/** The error of an answer that did not come to its end. */
export function outputLimit(): SkillmillError {
  return new SkillmillError(
    'LIMIT_EXCEEDED',
    'The model came to its output limit twice before its answer was whole. Raise maxOutputTokens, or ask for less at a time.',
    { details: { limit: 'maxOutputTokens' } },
  );
}
