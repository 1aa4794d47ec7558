import { z } from 'zod';
import type { BlobStore } from '../blobs/blob-store.js';
import type { JournalEntry } from '../contracts/journal.js';
import type { TurnKeys } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { entryOf } from './journal-text.js';

const replies = z.tuple([
  z.tuple([z.null(), z.array(z.string())]),
  z.tuple([z.null(), z.string().nullable()]),
]);

/** What earlier attempts of a turn have left. */
export interface StoredJournal {
  readonly entries: readonly JournalEntry[];
  /** Ids of messages whose deltas were published, and whose reply was not journalled. */
  readonly openMessages: readonly string[];
}

/** Reads a turn's journal. @throws SkillmillError REDIS_UNAVAILABLE, INTERNAL, BLOB_NOT_FOUND, BLOB_UNAVAILABLE, BLOB_CORRUPT */
export async function readJournal(
  client: RedisClient,
  keys: Pick<TurnKeys, 'turn' | 'journal'>,
  blobs: Pick<BlobStore, 'open'>,
): Promise<StoredJournal> {
  const answer = await client
    .multi()
    .lrange(keys.journal, 0, -1)
    .hget(keys.turn, 'openMessages')
    .exec()
    .catch((error: unknown) => {
      throw redisError(error);
    });
  const [[, texts], [, open]] = replies.parse(answer);
  const entries: JournalEntry[] = [];
  for (const text of texts) entries.push(await entryOf(text, blobs));
  return { entries, openMessages: open?.split(' ') ?? [] };
}
