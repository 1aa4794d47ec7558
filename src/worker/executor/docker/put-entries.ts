import { Readable } from 'node:stream';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { parentsOf } from '../check-entry.js';
import type { EntryOwner, WorkspaceEntry } from '../executor.js';
import { clearWay } from '../make-dir.js';
import { putFailed } from '../put-failure.js';
import { KEEPER, RUNNER } from './container-spec.js';
import { runHelper, type HelperResult, type OperationPlace } from './exec-helper.js';
import { packEntries } from './tar-transfer.js';

const PUT_MS = 300_000;

/** What tar and our own script exit with when a file has no place; bash and the engine have other codes for a missing tar. */
const NO_PLACE_CODES = [1, 2];

const diskFull = /No space left on device|File too large|Disk quota/;

/** Removes links that stand where a folder is to be, since tar would follow them, and files; opens folders that commands have
 *  closed. It gives up where it may not: the keeper cannot remove what a command has planted in a folder of its own. The
 *  folders come first on standard input, each closed by NUL and all by an empty one; bash reads a pipe byte by byte, so tar
 *  finds the rest untouched. No command runs meanwhile. */
const script = `${clearWay}
umask 022
cd /workspace || exit 3
while IFS= read -r -d '' folder && [[ -n $folder ]]; do
  clear_way "$folder" || exit 2
done
exec tar -x -f - --no-same-owner -p -m
`;

/** Puts entries into a container's workspace, in order. @throws the signal's reason; SkillmillError TOOL_FAILED when something
 *  is in the way, LIMIT_EXCEEDED when the disk is full, SANDBOX_UNAVAILABLE */
export async function putEntries(
  { engine, container, signal }: OperationPlace,
  entries: readonly WorkspaceEntry[],
  owner: EntryOwner,
): Promise<void> {
  const result = await runHelper(engine, container, {
    script,
    user: owner === 'keeper' ? KEEPER : RUNNER,
    stdin: Readable.from(inputOf(entries), { objectMode: false }),
    timeoutMs: PUT_MS,
    signal,
  });
  if (result.exitCode !== 0) throw failureOf(result);
}

async function* inputOf(entries: readonly WorkspaceEntry[]): AsyncGenerator<Buffer> {
  const folders = new Set<string>();
  for (const entry of entries) {
    for (const parent of parentsOf(entry.path)) folders.add(parent);
    if (entry.kind === 'directory') folders.add(entry.path);
  }
  yield Buffer.from([...folders, ''].map((folder) => `${folder}\0`).join(''), 'utf8');
  yield* packEntries(entries);
}

function failureOf({ exitCode, stderr }: HelperResult): SkillmillError {
  const why = stderr.trim().split('\n').slice(0, 3).join('; ');
  if (NO_PLACE_CODES.includes(exitCode)) return putFailed(why, diskFull.test(stderr));
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `Files cannot be put into the sandbox (exit code ${exitCode}): ${why}`,
  );
}
