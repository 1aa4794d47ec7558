import type { Message, ShownSkill, TurnId } from '../../shared/contracts/index.js';
import type { ResponseFormat } from '../../shared/contracts/index.js';
import type { ModelMessage, ModelRequest, ToolDefinition } from '../model/model.js';

/** A request that is not yet addressed to one of the turn's models. */
export type UnaddressedRequest = Omit<ModelRequest, 'model'>;

/** All that a request is made of; the same parts give the same bytes. */
export interface RequestParts {
  readonly turnId: TurnId;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  /** false: tools are listed and must not be called. */
  readonly mayCallTools?: boolean | undefined;
  /** A word to the model at the end of this request only. */
  readonly note?: string | undefined;
  readonly instructions?: string | undefined;
  readonly guidance: string;
  readonly overview: string;
  /** What stands for turns that no longer fit. */
  readonly summary?: string | undefined;
  /** Loaded skills that the system message shows. */
  readonly atTop: readonly ShownSkill[];
  /** Loaded skills that a last message shows, in this request only. */
  readonly trailing: readonly ShownSkill[];
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** What a tool result is filled in with. */
  readonly filledIn: (message: Message) => ShownSkill | undefined;
  /** The text that a `ShownSkill` stands for. */
  readonly contentOf: (shown: ShownSkill) => string;
  /** A message's text where the conversation is too long for the whole of it. */
  readonly shortened?: ((message: Message) => string | undefined) | undefined;
}

/** The request for the next model call. Loaded content stands in the tool result that brought it, so that what came before stays as it was. */
export function buildRequest(parts: RequestParts): UnaddressedRequest {
  const { temperature, maxOutputTokens, responseFormat, mayCallTools } = parts;
  return {
    messages: withNote(
      [
        { role: 'system', content: systemMessage(parts) },
        ...parts.messages.map((message) => toModelMessage(message, parts)),
        ...trailingMessage(parts),
      ],
      parts.note,
    ),
    tools: parts.tools,
    ...(mayCallTools === undefined ? {} : { mayCallTools }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

function systemMessage(parts: RequestParts): string {
  const summary =
    parts.summary === undefined ? '' : `What was said before, in short:\n${parts.summary}`;
  const sections = [parts.instructions ?? '', parts.guidance, parts.overview, summary];
  return [...sections, ...parts.atTop.map(parts.contentOf)]
    .filter((section) => section !== '')
    .join('\n\n');
}

/** Content that is not to stay stands last, where it does not touch what came before. */
function trailingMessage(parts: RequestParts): ModelMessage[] {
  const texts = parts.trailing.map(parts.contentOf).filter((text) => text !== '');
  return texts.length === 0 ? [] : [{ role: 'user', content: texts.join('\n\n') }];
}

/** Adds a word to the last tool result, since strict servers take no user message behind one; else as a message. */
function withNote(messages: ModelMessage[], note: string | undefined): ModelMessage[] {
  if (note === undefined) return messages;
  const last = messages.at(-1);
  return last?.role === 'tool'
    ? [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${note}` }]
    : [...messages, { role: 'user', content: note }];
}

/** A stored message as the model gets it. (A summary stands in the system message; `SessionSummary.uncovered` leaves it out here.) */
export function toModelMessage(
  message: Message,
  parts: Pick<RequestParts, 'turnId' | 'filledIn' | 'contentOf' | 'shortened'>,
): ModelMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content };
    case 'assistant': {
      const { content, toolCalls, reasoning, model, extra } = message;
      const said = { role: 'assistant', content, toolCalls, model } as const;
      // Some servers want their reasoning back within the turn, and none wants an older one.
      if (message.turnId !== parts.turnId) return said;
      return { ...said, extra, ...(reasoning === undefined ? {} : { reasoning }) };
    }
    case 'summary':
      return { role: 'system', content: message.content };
    case 'tool': {
      const shown = parts.filledIn(message);
      const text = shown === undefined ? '' : parts.contentOf(shown);
      const own = parts.shortened?.(message) ?? message.content;
      const content = text === '' ? own : `${own}\n\n${text}`;
      return { role: 'tool', toolCallId: message.toolCallId, content };
    }
  }
}
