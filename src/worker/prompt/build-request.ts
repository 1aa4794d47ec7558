import type { Message, ShownSkill, TurnId } from '../../shared/contracts/index.js';
import type { ModelMessage, ModelRequest, ToolDefinition } from '../model/model.js';
import { skillGuidance, skillOverview } from './guidance.js';

/** All that a request is made of; the same parts give the same bytes. */
export interface RequestParts {
  readonly turnId: TurnId;
  readonly model: string;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly instructions?: string | undefined;
  readonly skills: readonly { name: string; description: string }[];
  /** Skills that the caller declared: no tool result carries them, so the system message does. */
  readonly declared: readonly ShownSkill[];
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** The text that a `shows` stands for. */
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
    ],
    tools: parts.tools,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}

function systemMessage(parts: RequestParts): string {
  const sections = [parts.instructions ?? '', skillGuidance, skillOverview(parts.skills)];
  return [...sections, ...parts.declared.map(parts.contentOf)]
    .filter((section) => section !== '')
    .join('\n\n');
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
      // Skill state is cleared when a turn starts, so content of an earlier turn's load stays a stub.
      const shown = message.turnId === parts.turnId ? message.shows : undefined;
      const content =
        shown === undefined ? message.content : `${message.content}\n\n${parts.contentOf(shown)}`;
      return { role: 'tool', toolCallId: message.toolCallId, content };
    }
  }
}
