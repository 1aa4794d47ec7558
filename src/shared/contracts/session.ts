import { z } from 'zod';
import type { artifactSchema } from './artifact.js';
import { turnIdSchema } from './ids.js';
import { contentPartSchema } from './turn-request.js';
import type { WorkspaceVersion } from './workspace.js';

/** A call of a tool, as a model asked for it. */
export const toolCallSchema = z.object({
  id: z.string().describe('As the model gave it, made distinct within one reply'),
  name: z.string(),
  arguments: z.string().describe('JSON text, as the model wrote it'),
  /** Fields of the provider's own on the call (Gemini's thought signature, say): sent back to the model that gave them. */
  extra: z.record(z.string(), z.unknown()).optional(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** What a tool result stands for when a request is built: the text itself is filled in from the turn's skills. */
const shownSkillSchema = z.object({
  skill: z.string(),
  body: z.boolean(),
  docs: z.array(z.string()),
  /** Tools whose schemas are shown (exposure `dispatch`). */
  tools: z.array(z.string()).optional(),
});
export type ShownSkill = z.infer<typeof shownSkillSchema>;

const ofTurn = { turnId: turnIdSchema };

/** The answer to a tool call. */
export const toolMessageSchema = z.object({
  ...ofTurn,
  role: z.literal('tool'),
  toolCallId: z.string(),
  name: z.string(),
  content: z.string(),
  shows: shownSkillSchema.optional(),
});

/** One message of a session's stored history. Tool results of loads keep a short stub; `shows` names what a request fills in. */
export const messageSchema = z.discriminatedUnion('role', [
  z.object({
    ...ofTurn,
    role: z.literal('user'),
    content: z.union([z.string(), z.array(contentPartSchema)]),
  }),
  z.object({
    ...ofTurn,
    role: z.literal('assistant'),
    content: z.string().nullable(),
    toolCalls: z.array(toolCallSchema),
    reasoning: z.string().optional(),
    /** Which model said it, as it was asked for. */
    model: z.string().optional(),
    /** The model came to its output limit in the middle of it. */
    cut: z.boolean().optional(),
    /** Fields of the provider's own on the message; kept, and sent back only where a server is known to want them. */
    extra: z.record(z.string(), z.unknown()).optional(),
  }),
  toolMessageSchema,
  /** Stands for turns that no longer fit the model's window. */
  z.object({
    ...ofTurn,
    role: z.literal('summary'),
    content: z.string(),
    covers: turnIdSchema.describe('The last turn that it stands for'),
  }),
]);
export type Message = z.infer<typeof messageSchema>;
export type AssistantMessage = Extract<Message, { role: 'assistant' }>;
export type ToolMessage = Extract<Message, { role: 'tool' }>;

/** What is kept of a session between its turns. */
export interface Session {
  readonly messages: readonly Message[];
  /** DESIGN §4.4's hash, as it is. */
  readonly skillState: Readonly<Record<string, string>>;
  /** Every version of every artifact, in the order in which they were saved. */
  readonly artifacts: readonly z.infer<typeof artifactSchema>[];
  /** Undefined as long as no turn left a file. */
  readonly workspace: WorkspaceVersion | undefined;
}
