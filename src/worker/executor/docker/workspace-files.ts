import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { FileListing, ReadFile, WorkspaceFile } from '../executor.js';
import { ListingBuilder, UNREADABLE } from '../listing.js';
import { sandboxLost } from '../sandbox-failure.js';
import { RUNNER, WORKSPACE } from './container-spec.js';
import type { EngineExec } from './docker-engine.js';
import {
  feed,
  helperSpec,
  outputOf,
  runHelper,
  startExec,
  type OperationPlace,
} from './exec-helper.js';
import { unpackFiles } from './tar-transfer.js';

const LIST_MS = 120_000;
/** About 150,000 files; what the worker holds of a listing stays below it. */
const LIST_BYTES = 16 * 1024 * 1024;

/** True for a path of which no part is a link: a link may lead out of the workspace from its middle too. */
const plainPath = `
cd ${WORKSPACE} || exit 3
plain() {
  local rest=$1 at=.
  while :; do
    at=$at/\${rest%%/*}
    [[ -L $at || ! -e $at ]] && return 1
    [[ $rest == */* ]] || return 0
    rest=\${rest#*/}
  done
}
`;

/** One record per file: type, size, inode, change time, path; closed by NUL, since a name may hold anything else. */
const listScript = `${plainPath}
folders=()
for folder in "$@"; do plain "$folder" && [[ -d ./$folder ]] && folders+=("./$folder"); done
((\${#folders[@]})) || exit 0
exec find "\${folders[@]}" \\( -type d ! \\( -readable -executable \\) -printf '! 0 0 0 %p\\0' -prune \\) \
  -o \\( ! -type d -printf '%y %s %i %C@ %p\\0' \\)
`;

/** Hard links as files of their own: the second of them would come without its bytes. */
const readScript = `${plainPath}
while IFS= read -r -d '' path; do
  plain "$path" && [[ -f ./$path ]] && printf './%s\\0' "$path"
done | tar -c -f - --format=gnu --no-recursion --hard-dereference --verbatim-files-from --no-unquote --null -T -
`;

const skipReasons: Readonly<Record<string, string>> = {
  '!': 'a folder that cannot be opened',
  l: 'a symbolic link',
  p: 'a FIFO',
  s: 'a socket',
  b: 'a device',
  c: 'a device',
};

/** Lists regular files below the folders. @throws the signal's reason; SkillmillError SANDBOX_UNAVAILABLE with `lost` */
export async function listFiles(
  { engine, container, signal }: OperationPlace,
  folders: readonly string[],
  limit: number,
): Promise<FileListing> {
  const listing = new ListingBuilder(limit);
  const result = await runHelper(engine, container, {
    script: listScript,
    args: folders,
    user: RUNNER,
    timeoutMs: LIST_MS,
    signal,
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

function* records(bytes: Buffer): Generator<Buffer> {
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
  { engine, container, signal }: OperationPlace,
  paths: readonly string[],
): AsyncGenerator<ReadFile> {
  if (paths.length === 0) return;
  const spec = { ...helperSpec(readScript, [], RUNNER), stdin: true };
  const exec = await startExec(engine, container, spec, signal);
  try {
    const wanted = Readable.from(paths.map((path) => Buffer.from(`${path}\0`, 'utf8')));
    const feeding = feed(exec.socket, wanted);
    const archive = Readable.from(stdoutOf(exec, signal), { objectMode: false });
    let next = 0;
    for await (const file of unpackFiles(archive)) {
      const path = file.path.replace(/^\.\//, '');
      const at = paths.indexOf(path, next);
      if (at === -1) continue;
      yield* paths.slice(next, at).map(unreadable);
      next = at + 1;
      yield { path, content: file.content };
    }
    yield* paths.slice(next).map(unreadable);
    await feeding;
  } finally {
    exec.socket.destroy();
  }
}

async function* stdoutOf(exec: EngineExec, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const { stream, bytes } of outputOf(exec.socket, signal)) {
    if (stream === 'stdout') yield bytes;
  }
}

function unreadable(path: string): ReadFile {
  return { path, error: UNREADABLE };
}
