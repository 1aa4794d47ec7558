import type { JournalEntry } from '../../shared/contracts/journal.js';
import { readJournal } from '../../shared/journal/read-journal.js';
import type { EventSink } from '../publish/event-sink.js';
import type { Lease } from '../session/lease.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

export interface EarlierStepsOptions {
  readonly lease: Lease;
  readonly events: Pick<EventSink, 'discard'>;
}

/** What the attempts before have journalled: read when it is first needed, and once. */
export class EarlierSteps {
  private readonly deps: Pick<TurnDeps, 'redis' | 'blobsOf'>;
  private readonly options: EarlierStepsOptions;
  private entries: readonly JournalEntry[] | undefined;

  constructor(deps: Pick<TurnDeps, 'redis' | 'blobsOf'>, options: EarlierStepsOptions) {
    this.deps = deps;
    this.options = options;
  }

  /** The entries. What was published of a reply that never became whole is discarded. @throws SkillmillError REDIS_UNAVAILABLE, BLOB_NOT_FOUND, BLOB_UNAVAILABLE, INTERNAL */
  async read(turn: ClaimedTurn): Promise<readonly JournalEntry[]> {
    this.entries ??= await this.fetch(turn);
    return this.entries;
  }

  private async fetch(turn: ClaimedTurn): Promise<readonly JournalEntry[]> {
    // A first attempt has none before it, and is spared the look; one that tries an ended turn again may have that one's.
    if (turn.attempt === 1 && turn.retryOf === undefined) return [];
    const { lease, events } = this.options;
    const stored = await readJournal(this.deps.redis, lease.proof.keys, this.deps.blobsOf(turn));
    events.discard(stored.openMessages);
    return stored.entries;
  }
}
