import { z } from 'zod';
import { artifactSchema } from './artifact.js';
import { sessionIdSchema, turnIdSchema } from './ids.js';

/** What went wrong, in the form that leaves the product: a stable code, a sentence, no stack trace. */
export const publicErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** One tool call of a turn, as it went. */
export const toolCallRecordSchema = z.object({
  id: z.string().describe('Unique in the turn'),
  name: z.string(),
  arguments: z.unknown().describe('The parsed arguments, or their text where it was no JSON'),
  result: z.unknown().describe('What the model was answered; null when the call failed'),
  error: publicErrorSchema.nullable(),
  durationMs: z.number(),
  attempt: z
    .int()
    .min(1)
    .describe(
      'How often it was begun: 2 when the first time was cut short, e.g. by its worker’s death',
    ),
});
export type ToolCallRecord = z.infer<typeof toolCallRecordSchema>;

export const usageSchema = z.object({
  modelCalls: z.int(),
  toolCalls: z.int(),
  inputTokens: z.int(),
  cachedInputTokens: z.int(),
  outputTokens: z.int(),
  estimated: z
    .boolean()
    .optional()
    .describe('An endpoint gave no counts, so that a tokenizer’s stand in'),
  costUsd: z.number().optional().describe('When every model call of the turn had a price'),
});
export type Usage = z.infer<typeof usageSchema>;

export const timingsSchema = z.object({
  queuedMs: z.number().describe('From acceptance to the first claim'),
  modelMs: z.number(),
  toolMs: z.number(),
  totalMs: z.number().describe('From acceptance to the result'),
});
export type Timings = z.infer<typeof timingsSchema>;

export const turnStatusSchema = z.enum(['completed', 'failed', 'cancelled']);
export type TurnStatus = z.infer<typeof turnStatusSchema>;

/** What every accepted turn ends in, exactly once (DESIGN §3.2). */
export const turnResultSchema = z.object({
  turnId: turnIdSchema,
  sessionId: sessionIdSchema,
  status: turnStatusSchema,
  output: z.string().describe('The final answer; empty when there is none'),
  parsed: z
    .unknown()
    .optional()
    .describe('The answer as data, when the request asked for JSON by `responseFormat`'),
  error: publicErrorSchema.nullable(),
  toolCalls: z.array(toolCallRecordSchema),
  artifacts: z.array(artifactSchema),
  usage: usageSchema,
  timings: timingsSchema,
  attempts: z.int().min(0),
  skills: z
    .array(z.object({ name: z.string(), digest: z.string() }))
    .describe('Loaded or run in this turn'),
  retryOf: turnIdSchema.optional().describe('The ended turn that this one tried again'),
  mergedInto: turnIdSchema
    .optional()
    .describe('The running turn that this message joined; the answer is that one’s'),
  metadata: z.record(z.string(), z.string()),
});
export type TurnResult = z.infer<typeof turnResultSchema>;
