import { z } from 'zod';
import { maxCallsInReply, textOfParts, tooLong, tooManyCalls } from './read-reply.js';

const text = z.string().nullish().catch(null);

const callDelta = z.looseObject({
  index: z.int().nullish().catch(null),
  id: text,
  function: z.looseObject({ name: text, arguments: z.unknown().optional() }).nullish().catch(null),
});

const delta = z.looseObject({
  content: z
    .union([z.string(), z.array(z.unknown())])
    .nullish()
    .catch(null),
  refusal: text,
  reasoning_content: text,
  tool_calls: z.array(callDelta).nullish().catch(null),
});

const chunkSchema = z.looseObject({
  choices: z
    .array(
      z.looseObject({
        index: z.int().nullish().catch(null),
        delta: delta.nullish().catch(null),
        /** Some servers send the whole message instead of a delta. */
        message: delta.nullish().catch(null),
        finish_reason: text,
      }),
    )
    .nullish()
    .catch(null),
  usage: z.unknown().optional(),
});

type CallDelta = z.infer<typeof callDelta>;
type Delta = z.infer<typeof delta>;

interface PartialCall {
  index: number | undefined;
  id: string;
  name: string;
  arguments: string;
  extra: Record<string, unknown>;
}

const maxChars = 2_000_000;
/** What of a provider's own fields is kept, in characters of JSON. */
const maxExtraChars = 64 * 1024;

/**
 * Puts the chunks of a stream together to what the endpoint would have answered without streaming, so that one reader
 * (read-reply.ts) sets both right.
 */
export class ReplyBuilder {
  private content = '';
  private refusal = '';
  private reasoning = '';
  private readonly calls: PartialCall[] = [];
  private readonly extra = new Map<string, unknown>();
  private extraChars = 0;
  private usage: unknown;
  private finishReason: string | undefined;
  private chars = 0;

  /** Did the endpoint say why it stopped? A stream that ends without that was cut. */
  get isFinished(): boolean {
    return this.finishReason !== undefined;
  }

  /** Takes a chunk and gives the text that it adds; what is no chunk adds nothing. @throws SkillmillError MODEL_PROTOCOL */
  add(value: unknown): string {
    const chunk = chunkSchema.safeParse(value).data;
    if (chunk === undefined) return '';
    if (chunk.usage !== undefined && chunk.usage !== null) this.usage = chunk.usage;
    const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return '';
    const { finish_reason: reason } = choice;
    if (reason !== null && reason !== undefined && reason !== '') this.finishReason = reason;
    const part = choice.delta ?? choice.message;
    return part === null || part === undefined ? '' : this.addDelta(part);
  }

  /** What there is, in the form of a whole answer. */
  completion(): unknown {
    return {
      choices: [
        {
          finish_reason: this.finishReason ?? null,
          message: {
            ...Object.fromEntries(this.extra),
            role: 'assistant',
            content: this.content,
            refusal: this.refusal === '' ? null : this.refusal,
            reasoning_content: this.reasoning === '' ? null : this.reasoning,
            tool_calls: this.calls.map(({ id, name, arguments: args, extra }) => ({
              ...extra,
              id,
              function: { name, arguments: args },
            })),
          },
        },
      ],
      usage: this.usage,
    };
  }

  private addDelta(part: Delta): string {
    const { content, refusal, reasoning_content: reasoning, tool_calls: calls, ...rest } = part;
    const said = typeof content === 'string' ? content : textOfParts(content ?? []);
    this.content += said;
    this.refusal += refusal ?? '';
    this.reasoning += reasoning ?? '';
    for (const call of calls ?? []) this.addCall(call);
    this.addExtra(rest);
    this.chars += said.length + (refusal ?? '').length + (reasoning ?? '').length;
    if (this.chars > maxChars) throw tooLong(this.chars);
    return said;
  }

  private addCall(part: CallDelta): void {
    const { index, id, function: given, ...rest } = part;
    const name = given?.name ?? '';
    const call = this.callFor(index ?? undefined, id ?? '', name);
    if (call.id === '') call.id = id ?? '';
    // Some servers repeat the name with every piece.
    if (name !== call.name && call.arguments === '') call.name += name;
    const args = given?.arguments;
    const piece =
      typeof args === 'string'
        ? args
        : args === undefined || args === null
          ? ''
          : JSON.stringify(args);
    call.arguments += piece;
    this.chars += piece.length + name.length;
    for (const [key, value] of Object.entries(rest)) {
      if (key !== 'type' && this.hasRoomFor(value)) call.extra[key] = value;
    }
  }

  /** The call that a piece belongs to: by its index, unless that comes with another id; without an index, by its id or as the last one's. */
  private callFor(index: number | undefined, id: string, name: string): PartialCall {
    const isOther = (call: PartialCall) => id !== '' && call.id !== '' && call.id !== id;
    const last = this.calls.at(-1);
    const found =
      index === undefined
        ? id === ''
          ? last
          : this.calls.findLast((call) => call.id === id)
        : this.calls.findLast((call) => call.index === index);
    const startsAnew =
      found !== undefined && index === undefined && id === '' && name !== '' && isWhole(found);
    if (found !== undefined && !isOther(found) && !startsAnew) return found;
    if (this.calls.length >= maxCallsInReply) throw tooManyCalls(this.calls.length + 1);
    const call: PartialCall = { index, id, name: '', arguments: '', extra: {} };
    this.calls.push(call);
    return call;
  }

  /** Provider's own fields: texts and lists grow, the rest is as said last. */
  private addExtra(rest: Readonly<Record<string, unknown>>): void {
    for (const [key, value] of Object.entries(rest)) {
      if (key === 'role' || value === null || value === undefined) continue;
      if (this.hasRoomFor(value)) this.extra.set(key, grown(this.extra.get(key), value));
    }
  }

  /** Past a bound a provider's own fields are left out: each costs time with every request. */
  private hasRoomFor(value: unknown): boolean {
    if (this.extraChars <= maxExtraChars) this.extraChars += JSON.stringify(value).length + 20;
    return this.extraChars <= maxExtraChars;
  }
}

function grown(before: unknown, value: unknown): unknown {
  if (typeof before === 'string' && typeof value === 'string') return before + value;
  const isList = (given: unknown): given is readonly unknown[] => Array.isArray(given);
  return isList(before) && isList(value) ? [...before, ...value] : value;
}

/** Are the arguments so far a whole JSON value? Then another name begins another call. */
function isWhole(call: PartialCall): boolean {
  if (!call.arguments.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(call.arguments);
    return true;
  } catch {
    return false;
  }
}
