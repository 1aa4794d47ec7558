import { z } from 'zod';
import type { ToolCall } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { FinishReason, ModelReply, ModelUsage } from './model.js';
import { repairArguments } from './parse-arguments.js';

/** Endpoints send fractions, negative numbers and nonsense; a result must stay readable. */
const count = z
  .number()
  .transform((n) => Math.round(n))
  .pipe(z.int().min(0).max(1e12))
  .catch(0);

/** Calls that one reply may hold. */
export const maxCallsInReply = 500;
const textLimitChars = 1_000_000;
/** What of a provider's own fields is kept with a message or a call. */
const extraLimitChars = 64 * 1024;

const callSchema = z.looseObject({
  id: z.string().nullish().catch(null),
  function: z.looseObject({
    name: z.string().nullish().catch(null),
    arguments: z.unknown().optional(),
  }),
});

const messageSchema = z.looseObject({
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish().catch(null),
  tool_calls: z.array(callSchema).nullish(),
  /** The form before tools; some servers still answer with it. */
  function_call: callSchema.shape.function.nullish().catch(null),
});
type WireMessage = z.infer<typeof messageSchema>;

/** Loose on what endpoints send: what is missing, null or unknown must not lose a reply. */
const completionSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({ message: messageSchema, finish_reason: z.string().nullish().catch(null) }),
    )
    .min(1),
  usage: z
    .looseObject({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.looseObject({ cached_tokens: count }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

/** An endpoint's answer as a reply. @throws SkillmillError MODEL_PROTOCOL when it is no chat completion */
export function readReply(completion: unknown): ModelReply {
  const parsed = completionSchema.safeParse(completion);
  const choice = parsed.data?.choices[0];
  if (choice === undefined) {
    throw new SkillmillError(
      'MODEL_PROTOCOL',
      `The model endpoint answered with something that is no chat completion (${describe(completion)}). Check OPENAI_BASE_URL; it usually ends in /v1.`,
    );
  }
  const { message } = choice;
  const calls = callsOf(message);
  if (calls.length > maxCallsInReply) throw tooManyCalls(calls.length);
  const size = JSON.stringify([textOf(message), calls]).length;
  if (size > textLimitChars) throw tooLong(size);
  const reasoning = message.reasoning_content ?? '';
  const extra = extraOf(message, knownOfMessage);
  return {
    text: textOf(message),
    toolCalls: distinctIds(calls.map(toToolCall)),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(extra === undefined ? {} : { extra }),
    finish: finishOf(choice.finish_reason),
    usage: usageOf(parsed.data?.usage),
  };
}

/** The error of a reply with more calls than anybody can have meant. */
export function tooManyCalls(count: number): SkillmillError {
  return new SkillmillError(
    'MODEL_PROTOCOL',
    `The model made ${count} calls in one reply; at most ${maxCallsInReply} are taken. Try another model.`,
  );
}

/** The error of a reply that nobody can have meant. */
export function tooLong(size: number): SkillmillError {
  return new SkillmillError(
    'MODEL_PROTOCOL',
    `The model's reply is too long: ${size} characters, over the limit of ${textLimitChars}. Set maxOutputTokens, or try another model.`,
  );
}

function callsOf({ tool_calls, function_call }: WireMessage): z.infer<typeof callSchema>[] {
  if (tool_calls !== undefined && tool_calls !== null && tool_calls.length > 0) return tool_calls;
  return function_call === undefined || function_call === null ? [] : [{ function: function_call }];
}

function finishOf(reason: string | null | undefined): FinishReason {
  if (reason === 'length' || reason === 'max_tokens') return 'length';
  return reason === 'content_filter' ? 'content_filter' : 'stop';
}

function usageOf(usage: z.infer<typeof completionSchema>['usage']): ModelUsage | undefined {
  if (usage === undefined || usage === null) return undefined;
  const inputTokens = usage.prompt_tokens;
  const outputTokens = usage.completion_tokens;
  if (inputTokens === 0 && outputTokens === 0) return undefined;
  const cachedInputTokens = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return { inputTokens, outputTokens, cachedInputTokens };
}

function textOf(message: WireMessage): string {
  const { content } = message;
  if (typeof content === 'string' && content !== '') return content;
  return Array.isArray(content) ? textOfParts(content) : (message.refusal ?? '');
}

/** The text of content that came in parts; what is no text is left out. */
export function textOfParts(content: readonly unknown[]): string {
  const parts = z.array(z.looseObject({ text: z.string() }).catch({ text: '' })).parse(content);
  return parts.map(({ text }) => text).join('');
}

function toToolCall(call: z.infer<typeof callSchema>, index: number): ToolCall {
  const id = call.id ?? '';
  const extra = extraOf(call, knownOfCall);
  return {
    id: id === '' ? `call_${index}` : id,
    name: call.function.name ?? '',
    arguments: argumentText(call.function.arguments),
    ...(extra === undefined ? {} : { extra }),
  };
}

/** Arguments as JSON text; servers fail when the empty text is sent back. */
function argumentText(given: unknown): string {
  return typeof given === 'string' ? repairArguments(given) : JSON.stringify(given ?? {});
}

const knownOfCall = new Set(['id', 'type', 'index', 'function']);
const knownOfMessage = new Set([
  ...['role', 'content', 'refusal', 'reasoning_content', 'tool_calls', 'function_call'],
]);

/** Fields that are not ours to know: kept, unless there is more of them than anybody would need. */
function extraOf(
  fields: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): Record<string, unknown> | undefined {
  const unknown = Object.entries(fields).filter(
    ([key, value]) => !known.has(key) && value !== null && value !== undefined,
  );
  if (unknown.length === 0 || JSON.stringify(unknown).length > extraLimitChars) return undefined;
  return Object.fromEntries(unknown);
}

/** Two equal ids in one reply are told apart, since each call must be answered by its id. */
function distinctIds(calls: readonly ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; seen.has(id); n += 1) id = `${call.id}_${n}`;
    seen.add(id);
    return { ...call, id };
  });
}

function describe(completion: unknown): string {
  if (typeof completion === 'string') {
    return /^\s*</.test(completion) ? 'an HTML page' : 'plain text';
  }
  return completion === null || typeof completion !== 'object'
    ? typeof completion
    : `an object with ${Object.keys(completion).slice(0, 5).join(', ') || 'no keys'}`;
}
