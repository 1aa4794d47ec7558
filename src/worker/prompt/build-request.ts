import type { Message, ShownSkill, TurnId } from '../../shared/contracts/index.js';
import type { ModelMessage, ModelRequest, ToolDefinition } from '../model/model.js';

/** All that a request is made of; the same parts give the same bytes. */
export interface RequestParts {
  readonly turnId: TurnId;
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly instructions?: string | undefined;
  readonly guidance: string;
  readonly overview: string;
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
}

/** The request for the next model call. Loaded content stands in the tool result that brought it, so that what came before stays as it was. */
export function buildRequest(parts: RequestParts): ModelRequest {
  const { temperature, maxOutputTokens } = parts;
  return {
    model: parts.model,
    messages: [
      { role: 'system', content: systemMessage(parts) },
      ...parts.messages.map((message) => toModelMessage(message, parts)),
      ...trailingMessage(parts),
    ],
    tools: parts.tools,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

function systemMessage(parts: RequestParts): string {
  const sections = [parts.instructions ?? '', parts.guidance, parts.overview];
  return [...sections, ...parts.atTop.map(parts.contentOf)]
    .filter((section) => section !== '')
    .join('\n\n');
}

/** Content that is not to stay stands last, where it does not touch what came before. */
function trailingMessage(parts: RequestParts): ModelMessage[] {
  const texts = parts.trailing.map(parts.contentOf).filter((text) => text !== '');
  return texts.length === 0 ? [] : [{ role: 'user', content: texts.join('\n\n') }];
}

function toModelMessage(message: Message, parts: RequestParts): ModelMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.content };
    case 'assistant': {
      const { content, toolCalls, reasoning } = message;
      // Some servers want their reasoning back within the turn, and none wants an older one.
      return message.turnId === parts.turnId && reasoning !== undefined
        ? { role: 'assistant', content, toolCalls, reasoning }
        : { role: 'assistant', content, toolCalls };
    }
    case 'tool': {
      const shown = parts.filledIn(message);
      const text = shown === undefined ? '' : parts.contentOf(shown);
      const content = text === '' ? message.content : `${message.content}\n\n${text}`;
      return { role: 'tool', toolCallId: message.toolCallId, content };
    }
  }
}
