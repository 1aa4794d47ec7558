import { z } from 'zod';
import { artifactSchema } from './artifact.js';
import { turnIdSchema } from './ids.js';
import { toolCallSchema, toolMessageSchema } from './session.js';
import { contentPartSchema } from './turn-request.js';
import { toolCallRecordSchema } from './turn-result.js';
import { sha256Schema, workspaceVersionSchema } from './workspace.js';

const modelUsageSchema = z.object({
  inputTokens: z.int(),
  cachedInputTokens: z.int(),
  outputTokens: z.int(),
  estimated: z.boolean().exactOptional(),
});

const modelReplySchema = z.object({
  text: z.string(),
  toolCalls: z.array(toolCallSchema),
  reasoning: z.string().exactOptional(),
  extra: z.record(z.string(), z.unknown()).exactOptional(),
  finish: z.enum(['stop', 'length', 'content_filter']),
  usage: modelUsageSchema.optional(),
});

/** What a turn's model calls have cost so far. */
const costSchema = z.object({ costUsd: z.number(), priced: z.int(), unpriced: z.int() });

/** A skill whose bytes a turn keeps to, whatever becomes of its root. */
const pinnedSkillSchema = z.object({
  name: z.string(),
  digest: z.string(),
  pack: sha256Schema
    .optional()
    .describe('The blob that holds its files; absent when it could not be stored'),
  used: z.boolean().describe('Loaded or run, not only shown'),
});
export type PinnedSkill = z.infer<typeof pinnedSkillSchema>;

const loadedSkillSchema = z.object({
  name: z.string(),
  docs: z.union([z.literal('*'), z.array(z.string())]),
  tools: z.union([z.literal('*'), z.array(z.string())]),
});

/** How a turn began: what of its requests depends on the skills that its first worker saw. */
const openedSchema = z.object({
  kind: z.literal('opened'),
  turnId: turnIdSchema,
  overview: z.string(),
  skills: z.array(pinnedSkillSchema),
});

/** A model call that got its reply, an empty one too. */
const replySchema = z.object({
  kind: z.literal('reply'),
  messageId: z.string(),
  model: z.string(),
  reply: modelReplySchema,
  ms: z.number(),
  shrunkTo: z
    .array(z.number())
    .optional()
    .describe('Tokens to which the conversation was shortened since the endpoint refused it'),
  cost: costSchema,
});

/** A tool call that was begun. */
const startSchema = z.object({ kind: z.literal('start'), callId: z.string() });

/** A tool call that is finished, and what it changed. */
const resultSchema = z.object({
  kind: z.literal('result'),
  callId: z.string(),
  message: toolMessageSchema,
  record: toolCallRecordSchema,
  state: z.array(loadedSkillSchema).optional().describe('The loaded skills after it'),
  artifacts: z.array(artifactSchema).optional().describe('What it saved'),
  pins: z.record(z.string(), z.int()).optional().describe('Versions of artifacts that it pinned'),
  skills: z.array(pinnedSkillSchema).optional().describe('Skills that it was the first to use'),
  sandboxLost: z
    .boolean()
    .exactOptional()
    .describe('It ran a command; true: its sandbox was lost, and the next command is to say so'),
  workspace: workspaceVersionSchema.optional().describe('The checkpoint that holds its files'),
});

/** What stands for turns that no longer fit; without a text when none could be made. */
const summarySchema = z.object({
  kind: z.literal('summary'),
  text: z.string().exactOptional(),
  usage: modelUsageSchema.optional(),
  cost: costSchema,
});

/** A user's message that joined the turn. */
const messageEntrySchema = z.object({
  kind: z.literal('message'),
  turnId: turnIdSchema.describe('The turn that brought it'),
  content: z.union([z.string(), z.array(contentPartSchema)]),
});

/** One entry of a turn's journal: the ordered, durable record from which another worker goes on. Fields that a newer version adds are passed over. */
export const journalEntrySchema = z.discriminatedUnion('kind', [
  openedSchema,
  replySchema,
  startSchema,
  resultSchema,
  summarySchema,
  messageEntrySchema,
]);
export type JournalEntry = z.infer<typeof journalEntrySchema>;
export type JournalledReply = z.infer<typeof replySchema>;
export type JournalledResult = z.infer<typeof resultSchema>;
