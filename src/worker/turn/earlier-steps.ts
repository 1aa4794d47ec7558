import { readJournal } from '../../shared/journal/read-journal.js';
import type { EventSink } from '../publish/event-sink.js';
import { JournalReplay } from '../session/journal-replay.js';
import type { Lease } from '../session/lease.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

/** What the attempts before have journalled. What they published of a reply that never became whole is discarded. @throws SkillmillError REDIS_UNAVAILABLE, BLOB_NOT_FOUND, BLOB_UNAVAILABLE, INTERNAL */
export async function earlierSteps(
  deps: TurnDeps,
  turn: ClaimedTurn,
  { lease, events }: { readonly lease: Lease; readonly events: EventSink },
): Promise<JournalReplay> {
  // A first attempt has none before it, and is spared the look; one that tries an ended turn again may have that one's.
  if (turn.attempt === 1 && turn.retryOf === undefined) return new JournalReplay(turn.turnId, []);
  const stored = await readJournal(deps.redis, lease.proof.keys, deps.blobsOf(turn));
  events.discard(stored.openMessages);
  return new JournalReplay(turn.turnId, stored.entries);
}
