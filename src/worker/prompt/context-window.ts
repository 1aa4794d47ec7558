import type { Message, ToolMessage, TurnId } from '../../shared/contracts/index.js';

/** A tool result of fewer tokens is not worth shortening. */
const longResultTokens = 200;
const headChars = 400;
const tailChars = 200;
/** When it no longer fits, a conversation is shortened to this share of the window, so that not every call shortens it again. */
const targetShare = 0.75;

/** What is known of the request that is to fit. */
export interface Measured {
  /** The session's and the turn's messages, as stored. */
  readonly messages: readonly Message[];
  /** Tokens that a message takes, `shortened` being its text when that is not undefined. */
  readonly sizeOf: (message: Message, shortened?: string) => Promise<number>;
  /** Tokens of the system message and the tools. */
  readonly fixedTokens: number;
}

/** What a fit did. */
export interface Fit {
  readonly fits: boolean;
  /** Messages of the turns that it dropped. */
  readonly dropped: readonly Message[];
  /** Did it leave anything out that was there before? */
  readonly changed: boolean;
}

/**
 * What of a conversation a turn's requests hold. Old tool results are shortened first, then old turns are dropped, whole, so that
 * every call keeps its answer. What was left out once stays out for the rest of the turn.
 */
export class ContextWindow {
  private readonly turnId: TurnId;
  private readonly texts = new Map<Message, string>();
  private readonly droppedTurns = new Set<TurnId>();

  constructor(turnId: TurnId) {
    this.turnId = turnId;
  }

  /** The messages that are left. */
  keep(messages: readonly Message[]): readonly Message[] {
    return this.droppedTurns.size === 0
      ? messages
      : messages.filter(({ turnId }) => !this.droppedTurns.has(turnId));
  }

  /** A message's text when it was shortened. */
  shortened(message: Message): string | undefined {
    return this.texts.get(message);
  }

  /** Leaves out what has to go for the request to take at most `limit` tokens. */
  async fit(measured: Measured, limit: number): Promise<Fit> {
    const left = this.keep(measured.messages);
    let total = measured.fixedTokens;
    for (const message of left) {
      total += await measured.sizeOf(message, this.texts.get(message));
    }
    if (total <= limit) return { fits: true, dropped: [], changed: false };
    const target = limit * targetShare;
    const before = total;
    const lastStep = left.findLastIndex(({ role }) => role === 'assistant');
    total = await this.shorten(left.slice(0, Math.max(0, lastStep)), measured, { total, target });
    const dropped: Message[] = [];
    for (const turn of new Set(left.map(({ turnId }) => turnId))) {
      if (total <= target || turn === this.turnId) break;
      this.droppedTurns.add(turn);
      for (const message of left.filter(({ turnId }) => turnId === turn)) {
        total -= await measured.sizeOf(message, this.texts.get(message));
        dropped.push(message);
      }
    }
    total = await this.shorten(this.keep(left), measured, { total, target });
    return { fits: total <= limit, dropped, changed: total < before };
  }

  /** Shortens tool results, the oldest first, until the target is met; gives the new total. */
  private async shorten(
    messages: readonly Message[],
    { sizeOf }: Measured,
    { total, target }: { total: number; target: number },
  ): Promise<number> {
    let left = total;
    for (const message of messages) {
      if (left <= target) break;
      if (message.role !== 'tool' || this.texts.has(message)) continue;
      const size = await sizeOf(message);
      const text = shortText(message);
      if (text === undefined || size < longResultTokens) continue;
      this.texts.set(message, text);
      left -= size - (await sizeOf(message, text));
    }
    return left;
  }
}

/** Head and tail of a tool result, with a plain note of what is left out between them. */
function shortText({ content }: ToolMessage): string | undefined {
  const leftOut = content.length - headChars - tailChars;
  if (leftOut <= 0) return undefined;
  const head = content.slice(0, headChars).replace(/[\ud800-\udbff]$/, '');
  const tail = content.slice(-tailChars).replace(/^[\udc00-\udfff]/, '');
  return `${head}\n[… ${leftOut} characters of this result are left out, since the conversation is long …]\n${tail}`;
}
