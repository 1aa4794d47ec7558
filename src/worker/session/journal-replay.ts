import type { Message, TurnId, WorkspaceVersion } from '../../shared/contracts/index.js';
import type {
  JournalEntry,
  JournalledReply,
  JournalledResult,
  PinnedSkill,
} from '../../shared/contracts/journal.js';

type Opened = Extract<JournalEntry, { kind: 'opened' }>;
/** A summary that was made, or could not be. */
export type JournalledSummary = Extract<JournalEntry, { kind: 'summary' }>;

/** What goes with one model call: messages that joined before it, summaries that it needed, its reply when there is one. */
interface Stretch {
  readonly messages: Message[];
  readonly summaries: JournalledSummary[];
  reply?: JournalledReply;
}

/** What the attempts before have journalled, as the loop asks for it again: replies in order, results by call. */
export class JournalReplay {
  readonly opened: Opened | undefined;
  private readonly stretches: Stretch[];
  private readonly results = new Map<string, JournalledResult>();
  private readonly starts = new Map<string, number>();

  /** `turnId` is the turn that goes on; the entries may be another's whose journal it was given. */
  constructor(turnId: TurnId, entries: readonly JournalEntry[]) {
    this.opened = entries.find((entry) => entry.kind === 'opened');
    this.stretches = stretchesOf(turnId, entries);
    for (const entry of entries) {
      if (entry.kind === 'start') {
        this.starts.set(entry.callId, this.startsOf(entry.callId) + 1);
      }
      if (entry.kind === 'result') {
        this.results.set(entry.callId, { ...entry, message: { ...entry.message, turnId } });
      }
    }
  }

  /** The next model call's reply, when it is made already. */
  get nextReply(): JournalledReply | undefined {
    return this.stretches[0]?.reply;
  }

  /** The next reply, once. */
  takeReply(): JournalledReply | undefined {
    return this.nextReply === undefined ? undefined : this.stretches.shift()?.reply;
  }

  /** The messages that joined before the next model call, once. */
  takeMessages(): readonly Message[] {
    return this.stretches[0]?.messages.splice(0) ?? [];
  }

  /** The next summary that the next model call needed, once. */
  takeSummary(): JournalledSummary | undefined {
    return this.stretches[0]?.summaries.shift();
  }

  resultOf(callId: string): JournalledResult | undefined {
    return this.results.get(callId);
  }

  /** How often a call was begun. */
  startsOf(callId: string): number {
    return this.starts.get(callId) ?? 0;
  }

  /** The last checkpoint. */
  get checkpoint(): WorkspaceVersion | undefined {
    return [...this.results.values()].findLast(({ workspace }) => workspace !== undefined)
      ?.workspace;
  }

  /** Every skill that the turn keeps to. */
  get skills(): readonly PinnedSkill[] {
    const ofResults = [...this.results.values()].flatMap(({ skills = [] }) => skills);
    return [...(this.opened?.skills ?? []), ...ofResults];
  }
}

function stretchesOf(turnId: TurnId, entries: readonly JournalEntry[]): Stretch[] {
  const empty = (): Stretch => ({ messages: [], summaries: [] });
  let last = empty();
  const stretches = [last];
  for (const entry of entries) {
    switch (entry.kind) {
      case 'message':
        last.messages.push({ turnId, role: 'user', content: entry.content });
        break;
      case 'summary':
        last.summaries.push(entry);
        break;
      case 'reply':
        last.reply = entry;
        stretches.push((last = empty()));
        break;
      case 'opened':
      case 'start':
      case 'result':
        break;
    }
  }
  return stretches;
}
