import { z } from 'zod';
import type { ToolCall } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ModelReply } from './model.js';

/** Endpoints send fractions, negative numbers and nonsense; a result must stay readable. */
const count = z
  .number()
  .transform((n) => Math.round(n))
  .pipe(z.int().min(0).max(1e12))
  .catch(0);

const textLimitChars = 1_000_000;

/** Loose on what endpoints send: what is missing, null or unknown must not lose a reply. */
const completionSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        message: z.looseObject({
          content: z.union([z.string(), z.array(z.unknown())]).nullish(),
          refusal: z.string().nullish(),
          reasoning_content: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                id: z.string().nullish(),
                function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
              }),
            )
            .nullish(),
        }),
      }),
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

type Completion = z.infer<typeof completionSchema>;
type WireMessage = Completion['choices'][number]['message'];

/** An endpoint's answer as a reply. @throws SkillmillError MODEL_PROTOCOL when it is no chat completion */
export function readReply(completion: unknown): ModelReply {
  const parsed = completionSchema.safeParse(completion);
  if (!parsed.success) {
    throw new SkillmillError(
      'MODEL_PROTOCOL',
      `The model endpoint answered with something that is no chat completion (${describe(completion)}). Check OPENAI_BASE_URL; it usually ends in /v1.`,
    );
  }
  const message = parsed.data.choices[0]?.message ?? {};
  const size = JSON.stringify([textOf(message), message.tool_calls ?? []]).length;
  if (size > textLimitChars) {
    throw new SkillmillError(
      'MODEL_PROTOCOL',
      `The model's reply is too long: ${size} characters, over the limit of ${textLimitChars}.`,
    );
  }
  const reasoning = message.reasoning_content ?? '';
  return {
    text: textOf(message),
    toolCalls: distinctIds((message.tool_calls ?? []).map(toToolCall)),
    ...(reasoning === '' ? {} : { reasoning }),
    usage: {
      inputTokens: parsed.data.usage?.prompt_tokens ?? 0,
      cachedInputTokens: parsed.data.usage?.prompt_tokens_details?.cached_tokens ?? 0,
      outputTokens: parsed.data.usage?.completion_tokens ?? 0,
    },
  };
}

function textOf(message: Partial<WireMessage>): string {
  const { content } = message;
  if (typeof content === 'string' && content !== '') return content;
  if (Array.isArray(content)) {
    const parts = z.array(z.looseObject({ text: z.string() }).catch({ text: '' })).parse(content);
    return parts.map((part) => part.text).join('');
  }
  return message.refusal ?? '';
}

function toToolCall(call: NonNullable<WireMessage['tool_calls']>[number], index: number): ToolCall {
  const id = call.id ?? '';
  return {
    id: id === '' ? `call_${index}` : id,
    name: call.function.name,
    arguments: argumentText(call.function.arguments),
  };
}

/** Arguments as JSON text; nothing at all means no arguments, and servers fail when the empty text is sent back. */
function argumentText(given: unknown): string {
  if (typeof given !== 'string') return JSON.stringify(given ?? {});
  return given.trim() === '' ? '{}' : given;
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
