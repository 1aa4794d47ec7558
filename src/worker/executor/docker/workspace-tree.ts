import { isUtf8 } from 'node:buffer';
import type { RestoredEntry, SeenEntry, Tree } from '../executor.js';
import { TreeBuilder } from '../listing.js';
import { putFailed } from '../put-failure.js';
import { sandboxLost, sandboxUnavailable } from '../sandbox-failure.js';
import { diskFull, NO_PLACE_CODES } from './put-entries.js';
import { runHelper, type HelperResult, type OperationPlace } from './run-helper.js';
import { RUNNER } from './sandbox-users.js';
import { packRestored } from './tar-transfer.js';
import { LIST_BYTES, LIST_MS, records, skipReasons } from './workspace-files.js';

const RESTORE_MS = 600_000;
/** Closed folders in closed folders are opened one level a round. */
const MAX_ROUNDS = 64;

const kinds: Readonly<Record<string, SeenEntry['kind']>> = {
  f: 'file',
  d: 'directory',
  l: 'symlink',
};

/** All below the folders, for a snapshot. @throws the signal's reason; SkillmillError SANDBOX_UNAVAILABLE with `lost` */
export async function scanTree(place: OperationPlace, folders: readonly string[]): Promise<Tree> {
  /** Modes of the folders that have to be opened for a look, outermost first. */
  const closed = new Map<string, number>();
  for (let round = 0; ; round++) {
    const { tree, found } = await scanOnce(place, folders, closed);
    const more = found.filter(({ path }) => !closed.has(path));
    if (more.length === 0 || round === MAX_ROUNDS) return tree;
    for (const { path, mode } of more) closed.set(path, mode);
  }
}

interface Round {
  readonly tree: Tree;
  /** Folders that could not be looked into. */
  readonly found: readonly { readonly path: string; readonly mode: number }[];
}

async function scanOnce(
  place: OperationPlace,
  folders: readonly string[],
  closed: ReadonlyMap<string, number>,
): Promise<Round> {
  const result = await runHelper(place, {
    script: 'scan',
    args: folders.map((folder) => `./${folder}`),
    lines: [...closed.keys(), ''],
    user: RUNNER,
    timeoutMs: LIST_MS,
    stdoutLimitBytes: LIST_BYTES,
  });
  // 1 is a folder that is not there; more is find itself being killed or missing.
  if (result.exitCode > 1) {
    throw sandboxLost(`its files cannot be looked at (find ended with ${result.exitCode})`);
  }
  const builder = new TreeBuilder();
  const found: { path: string; mode: number }[] = [];
  if (result.cut) builder.cut();
  const fields = records(result.stdout);
  for (const record of fields) {
    const target = fields.next();
    const entry = parseRecord(record, target.done === true ? Buffer.alloc(0) : target.value);
    if (entry.type === '!') found.push({ path: entry.path, mode: entry.mode });
    if (folders.includes(entry.path)) continue;
    const kind = kinds[entry.type];
    if (!entry.isText) builder.skip(entry.path, 'a name that is not UTF-8');
    else if (kind === undefined) builder.skip(entry.path, reasonFor(entry.type));
    else builder.add({ ...entry.seen, kind, mode: closed.get(entry.path) ?? entry.mode });
  }
  return { tree: builder.build(), found };
}

function reasonFor(type: string): string {
  return skipReasons[type] ?? 'not a regular file';
}

function parseRecord(record: Buffer, target: Buffer) {
  let at = 0;
  const field = () => {
    const end = record.indexOf(0x20, at);
    const text = record.toString('latin1', at, end);
    at = end + 1;
    return text;
  };
  const [type, mode, size, inode, changed, time] = [
    ...[field(), field(), field()],
    ...[field(), field(), field()],
  ];
  const name = record.subarray(at + 2); // past `./`
  const path = name.toString('utf8');
  const isFile = type === 'f';
  return {
    type: type ?? '',
    path,
    mode: Number.parseInt(mode ?? '', 8),
    isText: isUtf8(name) && isUtf8(target),
    seen: {
      path,
      mtime: nanoseconds(time ?? ''),
      sizeBytes: isFile ? Number(size) : 0,
      fingerprint: isFile ? `${inode}-${size}-${changed}` : '',
      ...(type === 'l' ? { target: target.toString('utf8') } : {}),
    },
  };
}

/** find writes ten digits behind the point, the last of them always 0. */
function nanoseconds(time: string): string {
  const [seconds = '0', fraction = ''] = time.split('.');
  return `${seconds}.${fraction.slice(0, 9).padEnd(9, '0')}`;
}

/** Puts entries back. @throws the signal's reason; what a content fails with; SkillmillError */
export async function restoreTree(
  place: OperationPlace,
  entries: AsyncIterable<RestoredEntry>,
): Promise<void> {
  const result = await runHelper(place, {
    script: 'restore',
    user: RUNNER,
    input: packRestored(entries),
    timeoutMs: RESTORE_MS,
  });
  if (result.exitCode !== 0) throw failureOf(result);
}

function failureOf({ exitCode, stderr }: HelperResult): Error {
  const why = stderr.trim().split('\n').slice(0, 3).join('; ');
  if (NO_PLACE_CODES.includes(exitCode)) return putFailed(why, diskFull.test(stderr));
  return sandboxUnavailable('The session’s files cannot be put into the sandbox', why);
}
