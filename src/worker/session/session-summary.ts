import type { Message, TurnId } from '../../shared/contracts/index.js';

type SummaryMessage = Extract<Message, { role: 'summary' }>;

/** What stands for the turns of a session that no longer fit the model's window: kept in the history, shown in the system message. */
export class SessionSummary {
  private current: SummaryMessage | undefined;
  private covered: ReadonlySet<TurnId>;
  private isNew = false;

  constructor(history: readonly Message[]) {
    this.current = history.findLast((message) => message.role === 'summary');
    this.covered = turnsUpTo(history, this.current?.covers);
  }

  /** The text to show; undefined when there is none. */
  get text(): string | undefined {
    return this.current?.content;
  }

  /** What this turn has to add to the history. */
  get made(): readonly Message[] {
    return this.isNew && this.current !== undefined ? [this.current] : [];
  }

  /** Messages that no summary stands for. */
  uncovered(messages: readonly Message[]): readonly Message[] {
    return messages.filter(({ role, turnId }) => role !== 'summary' && !this.covered.has(turnId));
  }

  /** Takes a new summary, of what the one before stood for and of these messages as well. */
  replace(turnId: TurnId, content: string, of: readonly Message[]): void {
    const last = of.at(-1);
    if (last === undefined) return;
    this.covered = new Set([...this.covered, ...of.map((message) => message.turnId)]);
    this.current = { turnId, role: 'summary', content, covers: last.turnId };
    this.isNew = true;
  }
}

/** The turns of a history up to one of them, in order. */
function turnsUpTo(history: readonly Message[], last: TurnId | undefined): Set<TurnId> {
  if (last === undefined) return new Set();
  const end = history.findLastIndex(({ turnId }) => turnId === last);
  return new Set(history.slice(0, end + 1).map(({ turnId }) => turnId));
}
