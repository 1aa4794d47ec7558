import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { TurnEventBody, WorkspaceVersion } from '../../shared/contracts/index.js';
import type {
  JournalEntry,
  JournalledResult,
  PinnedSkill,
} from '../../shared/contracts/journal.js';
import { entryText } from '../../shared/journal/journal-text.js';
import type { EventSink } from '../publish/event-sink.js';
import type { WrittenEntry } from '../publish/turn-writer.js';

export interface JournalLogOptions {
  readonly sink: Pick<EventSink, 'append' | 'emit'>;
  readonly blobs: Pick<BlobStore, 'put'>;
  /** Waits until no checkpoint is being made. */
  readonly checkpointed: () => Promise<void>;
}

/** A finished call whose entry is to be written. */
export interface FinishedCall {
  readonly entry: JournalledResult;
  /** What is told of its end. */
  readonly events: readonly TurnEventBody[];
  /** The skills that it was the first to use, once their packs are stored. */
  readonly skills: Promise<readonly PinnedSkill[]>;
  /** Did it run a command, so that a checkpoint has to hold its files first? */
  readonly needsCheckpoint: boolean;
}

interface Ready {
  readonly entries: readonly JournalEntry[];
  readonly events: readonly TurnEventBody[];
}

type Pending =
  | { readonly kind: 'result'; readonly call: FinishedCall }
  | { readonly kind: 'other'; readonly entry: JournalEntry };

/**
 * Writes a turn's journal in an order from which another worker can go on at any moment: a result behind the reply that asked for it
 * and no earlier than the checkpoint that holds its files, a reply behind all results before it. While no checkpoint can be made the
 * entries wait here, in order, and the turn goes on: a death then runs those calls again.
 */
export class JournalLog {
  private readonly options: JournalLogOptions;
  /** Results that wait for a checkpoint, and what may not stand before them. */
  private waiting: Pending[] = [];
  /** Entries that become texts. */
  private handing: Promise<void> = Promise.resolve();
  /** Writes on their way, the last of them. */
  private writing: Promise<void> = Promise.resolve();

  constructor(options: JournalLogOptions) {
    this.options = options;
  }

  /** Writes what a step of the loop brought, behind all results so far; returns when it is durable, or has to wait for a checkpoint. @throws SkillmillError LEASE_LOST, INTERNAL */
  async write(entries: readonly JournalEntry[], events: readonly TurnEventBody[]): Promise<void> {
    await this.options.checkpointed();
    if (this.waiting.length > 0) {
      this.options.sink.emit(...events);
      this.waiting.push(...entries.map((entry) => ({ kind: 'other', entry }) as const));
      return;
    }
    await this.append(() => Promise.resolve({ entries, events }));
  }

  /** Writes what waits for nothing but a reply that has to wait: a call begins, a summary is made. @throws SkillmillError LEASE_LOST, INTERNAL */
  async note(entry: JournalEntry, events: readonly TurnEventBody[] = []): Promise<void> {
    if (this.isBlocked) {
      this.options.sink.emit(...events);
      this.waiting.push({ kind: 'other', entry });
      return;
    }
    await this.append(() => Promise.resolve({ entries: [entry], events }));
  }

  /** Writes a call's result as soon as it may be; the loop does not wait for it. */
  finish(call: FinishedCall): void {
    if (call.needsCheckpoint || this.isBlocked) {
      this.options.sink.emit(...call.events);
      this.waiting.push({ kind: 'result', call });
      return;
    }
    void this.append(async () => ({ entries: [await resultOf(call)], events: call.events }));
  }

  /** A checkpoint holds all that finished calls have left. */
  saved(version: WorkspaceVersion | undefined): void {
    const ready = this.waiting;
    if (ready.length === 0) return;
    this.waiting = [];
    void this.append(async () => ({
      entries: await Promise.all(ready.map((pending) => entryOf(pending, version))),
      events: [],
    }));
  }

  /** Waits until all is written that may be. */
  async settle(): Promise<void> {
    await this.options.checkpointed();
    await this.writing;
  }

  /** Does a reply wait, so that nothing that follows it may be written? */
  private get isBlocked(): boolean {
    return this.waiting.some(({ kind }) => kind === 'other');
  }

  private append(make: () => Promise<Ready>): Promise<void> {
    // In order, but none waits until the one before is durable: the sink writes together what comes together.
    const handed = this.handing.then(async () => {
      const { entries, events } = await make();
      const texts = await Promise.all(entries.map((entry) => this.textOf(entry)));
      return { written: this.options.sink.append(events, texts) };
    });
    const written = handed.then((step) => step.written);
    this.handing = handed.then(nothing, nothing);
    // A write that fails ends the attempt through the lease, or fails the next one that is waited for.
    this.writing = written.catch(nothing);
    return written;
  }

  private async textOf(entry: JournalEntry): Promise<WrittenEntry> {
    return { entry, text: await entryText(entry, this.options.blobs) };
  }
}

const nothing = (): void => undefined;

async function resultOf({ entry, skills }: FinishedCall): Promise<JournalledResult> {
  const used = await skills;
  return used.length === 0 ? entry : { ...entry, skills: [...used] };
}

async function entryOf(
  pending: Pending,
  version: WorkspaceVersion | undefined,
): Promise<JournalEntry> {
  if (pending.kind === 'other') return pending.entry;
  const entry = await resultOf(pending.call);
  const workspace = pending.call.needsCheckpoint ? version : undefined;
  return workspace === undefined ? entry : { ...entry, workspace };
}
