import { Readable } from 'node:stream';
import tar from 'tar-stream';
import type { RestoredEntry, TreeEntry, WorkspaceEntry } from '../executor.js';

/** A file out of a tar stream; the next one comes when this one was read or its stream was destroyed. */
export interface UnpackedFile {
  readonly path: string;
  readonly content: Readable;
}

/** What stands at the end of an archive. */
export const archiveEnd = Buffer.alloc(1024);

/** The entries in order as pieces of an archive, without its end: archives can be put one after another. */
export async function packEntries(entries: readonly WorkspaceEntry[]): Promise<readonly Buffer[]> {
  const pack = tar.pack();
  const writing = writeAll(pack, entries).catch((thrown: unknown) => {
    pack.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
  });
  const pieces: Buffer[] = [];
  for await (const piece of pack) if (Buffer.isBuffer(piece)) pieces.push(piece);
  await writing;
  pieces.pop(); // the end
  return pieces;
}

async function writeAll(pack: tar.Pack, entries: readonly WorkspaceEntry[]): Promise<void> {
  for (const { path: name, kind: type, mode, target, content } of entries) {
    if (type === 'symlink') await write(pack, { name, type, mode, linkname: target ?? '' });
    else if (type === 'directory') await write(pack, { name, type, mode });
    else await write(pack, { name, type, mode }, bufferOf(content));
  }
  pack.finalize();
}

function bufferOf(bytes: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function write(
  pack: tar.Pack,
  header: Partial<tar.Header> & Pick<tar.Header, 'name'>,
  content?: Buffer,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error | null) => {
      if (error) reject(error);
      else resolve();
    };
    if (content === undefined) pack.entry(header, done);
    else pack.entry(header, content, done);
  });
}

/** An archive of entries, as it is read. @throws what a content fails with */
export async function* packRestored(entries: AsyncIterable<RestoredEntry>): AsyncGenerator<Buffer> {
  const pack = tar.pack();
  const writing = (async () => {
    for await (const { entry, content } of entries) await writeRestored(pack, entry, content);
    pack.finalize();
  })().catch((thrown: unknown) => {
    pack.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
  });
  for await (const piece of pack) if (Buffer.isBuffer(piece)) yield piece;
  await writing;
}

/** tar-stream takes a mode of 0 for none given; what lies above the permission bits is not written. */
const NOT_ZERO = 0o10000;

async function writeRestored(
  pack: tar.Pack,
  { path: name, kind: type, mode, mtime, target, sizeBytes: size }: TreeEntry,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  // The header has room for whole seconds only, and not for those after 2038.
  const times = { mtime: new Date(0), pax: { mtime: decimal(mtime) } };
  const header = { name, type, mode: mode | NOT_ZERO, ...times };
  if (type === 'symlink') await write(pack, { ...header, linkname: target ?? '' });
  else if (type === 'directory') await write(pack, header);
  else if (size === 0) await write(pack, header, Buffer.alloc(0));
  else await writeStream(pack, { ...header, size }, content);
}

/** A time as one number: a tree's are whole seconds, rounded down, and what is above. */
function decimal(time: string): string {
  const [seconds = '0', fraction = ''] = time.split('.');
  if (!seconds.startsWith('-') || Number(fraction) === 0) return time;
  return `-${-Number(seconds) - 1}.${String(1_000_000_000 - Number(fraction)).padStart(9, '0')}`;
}

async function writeStream(
  pack: tar.Pack,
  header: Partial<tar.Header> & Pick<tar.Header, 'name'>,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const sink = pack.entry(header, (error) => {
      if (error) reject(error);
      else resolve();
    });
    sink.on('error', reject);
    feed(sink, content).catch(reject);
  });
}

async function feed(
  sink: ReturnType<tar.Pack['entry']>,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const chunk of content) {
    if (!sink.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) {
      await new Promise<void>((resolve) => {
        const done = () => {
          sink.off('drain', done).off('close', done);
          resolve();
        };
        sink.on('drain', done).on('close', done);
      });
    }
  }
  sink.end(undefined);
}

/** The regular files of a tar stream as they come; whatever else it holds is passed over.
 *  @throws what the source fails with, or for a broken archive */
export async function* unpackFiles(source: Readable): AsyncGenerator<UnpackedFile> {
  const extract = tar.extract();
  source.on('error', (error) => extract.destroy(error));
  source.pipe(extract);
  try {
    for await (const entry of extract) {
      const pieces = entry[Symbol.asyncIterator]();
      if (entry.header.type !== 'file') {
        await drain(pieces);
        continue;
      }
      // Not the entry itself: destroying that would end the whole archive (tar-stream 3, Source._predestroy).
      const content = Readable.from(piecesOf(pieces), { objectMode: false });
      yield { path: entry.header.name, content };
      content.destroy();
      await drain(pieces);
    }
  } finally {
    source.destroy();
    extract.destroy();
  }
}

async function* piecesOf(pieces: AsyncIterator<unknown, unknown>): AsyncGenerator<Buffer> {
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    if (next.value instanceof Uint8Array) yield Buffer.from(next.value);
  }
}

async function drain(pieces: AsyncIterator<unknown, unknown>): Promise<void> {
  let next = await pieces.next();
  while (next.done !== true) next = await pieces.next();
}
