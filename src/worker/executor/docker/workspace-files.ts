import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { errorMessage, type SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { FileListing, ReadFile, SeenEntry, Tree, WorkspaceFile } from '../executor.js';
import {
  foldersAboveScan,
  isClosedFile,
  isClosedFolder,
  ListingBuilder,
  UNREADABLE,
} from '../listing.js';
import { isSandboxLost, sandboxLost } from '../sandbox-failure.js';
import { within, withDeadline } from '../../async/deadline.js';
import { untilAbort } from '../../async/until-abort.js';
import { RUNNER } from './sandbox-users.js';
import type { ChannelRequest, Exchange } from './channel.js';
import { runHelper, type OperationPlace } from './run-helper.js';
import { drainExchange, stopExchange } from './stop-exchange.js';
import { unpackFiles, type UnpackedFile } from './tar-transfer.js';

export const LIST_MS = 120_000;
/** How long the next bytes of files may keep us waiting. */
const READ_IDLE_MS = 60_000;
const REPLY_END_MS = 1000;
/** About 150,000 files; what the worker holds of a listing stays below it. */
export const LIST_BYTES = 16 * 1024 * 1024;

export const skipReasons: Readonly<Record<string, string>> = {
  '!': 'a folder that cannot be opened',
  l: 'a symbolic link',
  p: 'a FIFO',
  s: 'a socket',
  b: 'a device',
  c: 'a device',
};

/** Lists regular files below the folders. @throws the signal's reason; SkillmillError SANDBOX_UNAVAILABLE with `lost` */
export async function listFiles(
  place: OperationPlace,
  folders: readonly string[],
  limit: number,
): Promise<FileListing> {
  const listing = new ListingBuilder(limit);
  const result = await runHelper(place, {
    script: 'list',
    args: folders,
    user: RUNNER,
    timeoutMs: LIST_MS,
    stdoutLimitBytes: LIST_BYTES,
  });
  if (result.exitCode > 1) {
    // 1 is a file that was in the way; more is find itself being killed or missing.
    throw sandboxLost(`its files cannot be listed (find ended with ${result.exitCode})`);
  }
  if (result.cut) listing.cut();
  for (const record of records(result.stdout)) addRecord(listing, record);
  return listing.build();
}

/** The records of a reply, each of which NUL closes. */
export function* records(bytes: Buffer): Generator<Buffer, void> {
  let start = 0;
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

function addRecord(listing: ListingBuilder, record: Buffer): void {
  let at = 0;
  const field = () => {
    const end = record.indexOf(0x20, at);
    const text = record.toString('latin1', at, end);
    at = end + 1;
    return text;
  };
  const [type, size, inode, changed] = [field(), field(), field(), field()];
  const name = record.subarray(at + 2); // past `./`
  const path = name.toString('utf8');
  if (!isUtf8(name)) listing.skip(path, 'a name that is not UTF-8');
  else if (type !== 'f') listing.skip(path, skipReasons[type] ?? 'not a regular file');
  else listing.add(toFile(path, size, `${inode}-${size}-${changed}`));
}

function toFile(path: string, size: string, fingerprint: string): WorkspaceFile {
  return { path, sizeBytes: Number(size), fingerprint };
}

/** Opens files for reading, in order. @throws the signal's reason; SkillmillError SANDBOX_UNAVAILABLE with `lost` */
export async function* readFiles(
  place: OperationPlace,
  paths: readonly string[],
): AsyncGenerator<ReadFile> {
  yield* unpackReply(place, paths, { script: 'read', input: [namesOf(paths)] });
}

/** Like `readFiles`, for files of a scan that was made since the last command; what is closed is opened meanwhile. */
export async function* fetchFiles(
  place: OperationPlace,
  files: readonly SeenEntry[],
  tree: Tree,
): AsyncGenerator<ReadFile> {
  const paths = files.map((file) => file.path);
  const closed = [...tree.entries.filter(isClosedFolder), ...files.filter(isClosedFile)];
  // What is the keeper's among those above stays as it is.
  const lines = [...foldersAboveScan(files, tree), ...closed.map((entry) => entry.path), ''];
  const input = [namesOf(paths.map((path) => `./${path}`))];
  yield* unpackReply(place, paths, { script: 'fetch', lines, input });
}

const namesOf = (paths: readonly string[]) =>
  Buffer.from(paths.map((path) => `${path}\0`).join(''), 'utf8');

async function* unpackReply(
  place: OperationPlace,
  paths: readonly string[],
  asked: Pick<ChannelRequest, 'script' | 'lines' | 'input'>,
): AsyncGenerator<ReadFile> {
  const { channel, signal } = place;
  signal.throwIfAborted();
  if (paths.length === 0) return;
  const exchange = channel.request({ kind: 'helper', user: RUNNER, ...asked });
  try {
    let next = 0;
    for await (const file of filesOf(exchange, signal)) {
      const path = file.path.replace(/^\.\//, '');
      const at = paths.indexOf(path, next);
      if (at === -1) continue;
      yield* paths.slice(next, at).map(unreadable);
      next = at + 1;
      yield { path, content: file.content };
    }
    yield* paths.slice(next).map(unreadable);
  } finally {
    // A reader that stopped early leaves a tar that waits to be read.
    if (exchange.ending === undefined) await stopExchange(place, exchange);
  }
}

/** The files of a reply, which all have come when it ends. */
async function* filesOf(exchange: Exchange, signal: AbortSignal): AsyncGenerator<UnpackedFile> {
  try {
    yield* unpackFiles(Readable.from(stdoutOf(exchange, signal), { objectMode: false }));
  } catch (thrown) {
    signal.throwIfAborted();
    throw isSandboxLost(thrown) ? thrown : cutShort(errorMessage(thrown), thrown);
  }
  // The archive's end comes a little before the reply's.
  await within(drainExchange(exchange), REPLY_END_MS);
  checkWhole(exchange);
}

function checkWhole({ ending }: Exchange): void {
  const { exitCode = 0 } = ending ?? {};
  // 2 is a file that was in the way; more is tar itself being killed or missing.
  if (exitCode > 2) throw cutShort(`tar ended with ${exitCode}`);
}

function cutShort(why: string, cause?: unknown): SkillmillError {
  return sandboxLost(`its files cannot be read (${why})`, cause);
}

async function* stdoutOf(exchange: Exchange, signal: AbortSignal): AsyncGenerator<Buffer> {
  const pieces = exchange.output();
  for (;;) {
    const piece = withDeadline(pieces.next(), READ_IDLE_MS, 'reading its files');
    const next = await untilAbort(piece, signal).catch((thrown: unknown) => {
      signal.throwIfAborted();
      throw isSandboxLost(thrown) ? thrown : sandboxLost(errorMessage(thrown), thrown);
    });
    if (next.done === true) {
      checkWhole(exchange);
      return;
    }
    if (next.value.stream === 'stdout') yield next.value.bytes;
  }
}

function unreadable(path: string): ReadFile {
  return { path, error: UNREADABLE };
}
