import { z } from 'zod';
import { artifactSchema } from './artifact.js';
import { sessionIdSchema, turnIdSchema } from './ids.js';
import { publicErrorSchema, turnResultSchema } from './turn-result.js';

/** What a writer says; the stream adds who, where and when. */
const eventBodies = [
  z.object({
    type: z.literal('turn.queued'),
    position: z.int().describe('1 is the head of its session; 0 is no place in the line'),
    delayMs: z.int().optional().describe('It takes its place in the line after this'),
    joins: turnIdSchema.optional().describe('The running turn that the message is to join'),
  }),
  z.object({ type: z.literal('turn.started'), workerId: z.string(), attempt: z.int() }),
  z.object({
    type: z.literal('turn.parked'),
    reason: z.enum(['hand_over']).describe('hand_over: its worker stops, and another goes on'),
    afterMs: z.number(),
  }),
  z.object({
    type: z.literal('turn.retrying'),
    error: publicErrorSchema,
    afterMs: z.number().describe('How long until the next try, at least'),
  }),
  z.object({
    type: z.literal('message.delta'),
    messageId: z.string(),
    text: z.string().describe('What the model has said since the delta before'),
  }),
  z.object({
    type: z.literal('message.discarded'),
    messageId: z.string().describe('Its deltas count for nothing: the model call is made again'),
  }),
  z.object({
    type: z.literal('message.joined'),
    from: turnIdSchema.describe('The turn whose message joined this one'),
    text: z.string(),
  }),
  z.object({
    type: z.literal('message.completed'),
    messageId: z.string(),
    text: z.string(),
    toolCallIds: z.array(z.string()),
  }),
  z.object({
    type: z.literal('tool.started'),
    callId: z.string(),
    name: z.string(),
    arguments: z.unknown(),
    attempt: z
      .int()
      .min(1)
      .default(1)
      .describe('How often the call was begun: 2 when the first time was cut short'),
  }),
  z.object({
    type: z.literal('tool.output'),
    callId: z.string(),
    stream: z.enum(['stdout', 'stderr']),
    text: z.string(),
  }),
  z.object({
    type: z.literal('tool.completed'),
    callId: z.string(),
    name: z.string(),
    durationMs: z.number(),
    exitCode: z.int().nullable().describe('A command’s exit code; null for other tools'),
    error: publicErrorSchema.nullable(),
  }),
  z.object({ type: z.literal('skill.loaded'), name: z.string(), digest: z.string() }),
  z.object({ type: z.literal('artifact.saved'), artifact: artifactSchema }),
  z.object({ type: z.literal('turn.completed'), result: turnResultSchema }),
  z.object({ type: z.literal('turn.failed'), result: turnResultSchema }),
  z.object({ type: z.literal('turn.cancelled'), result: turnResultSchema }),
] as const;

const stamp = z.object({
  turnId: turnIdSchema,
  sessionId: sessionIdSchema,
  seq: z.int().min(1).describe('Rises by one'),
  at: z.iso.datetime(),
});

export const turnEventBodySchema = z.discriminatedUnion('type', eventBodies);
export type TurnEventBody = z.infer<typeof turnEventBodySchema>;

/** One entry of a turn's published stream (DESIGN §3.3). */
export const turnEventSchema = z.intersection(turnEventBodySchema, stamp);
export type TurnEvent = z.infer<typeof turnEventSchema>;

/** Events after which a turn's stream holds no other. */
export type FinalEvent = Extract<TurnEvent, { result: unknown }>;

/** Does this event end its turn's stream? */
export function isFinalEvent(event: TurnEvent): event is FinalEvent {
  return 'result' in event;
}
