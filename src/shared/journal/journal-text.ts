import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { BlobStore } from '../blobs/blob-store.js';
import { sha256Schema } from '../contracts/index.js';
import { journalEntrySchema, type JournalEntry } from '../contracts/journal.js';
import { parseStored } from '../redis/parse-stored.js';

/** An entry of more bytes goes to the blob store, and the list holds a reference. */
export const maxEntryBytes = 256 * 1024;

const referenceSchema = z.object({ kind: z.literal('blob'), sha256: sha256Schema });

/** An entry as the list holds it. When a large one cannot be put elsewhere it stands in the list all the same. */
export async function entryText(
  entry: JournalEntry,
  blobs: Pick<BlobStore, 'put'>,
): Promise<string> {
  const text = JSON.stringify(entry);
  if (Buffer.byteLength(text) <= maxEntryBytes) return text;
  const info = await blobs.put([Buffer.from(text)]).catch(() => undefined);
  return info === undefined ? text : JSON.stringify({ kind: 'blob', sha256: info.sha256 });
}

/** The entry that a text of the list stands for. @throws SkillmillError INTERNAL, BLOB_NOT_FOUND, BLOB_UNAVAILABLE, BLOB_CORRUPT */
export async function entryOf(text: string, blobs: Pick<BlobStore, 'open'>): Promise<JournalEntry> {
  const entry = parseStored(z.union([referenceSchema, journalEntrySchema]), text);
  if (entry.kind !== 'blob') return entry;
  const whole = await buffer(await blobs.open(entry.sha256));
  return parseStored(journalEntrySchema, whole.toString());
}
