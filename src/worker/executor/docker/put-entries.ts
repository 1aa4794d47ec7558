import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { parentsOf } from '../check-entry.js';
import type { EntryOwner, WorkspaceEntry } from '../executor.js';
import { putFailed } from '../put-failure.js';
import { KEEPER, RUNNER } from './sandbox-users.js';
import { runHelper, type HelperResult, type OperationPlace } from './run-helper.js';
import { packEntries } from './tar-transfer.js';

const PUT_MS = 300_000;
const PIECE_BYTES = 512 * 1024;
const MAX_PIECE_BYTES = 4 * 1024 * 1024;

/** What tar and our own script exit with when a file has no place; bash and the engine have other codes for a missing tar. */
const NO_PLACE_CODES = [1, 2];

const diskFull = /No space left on device|File too large|Disk quota/;

/** Puts entries into a container's workspace, in order. @throws the signal's reason; SkillmillError TOOL_FAILED when something
 *  is in the way, LIMIT_EXCEEDED when the disk is full, SANDBOX_UNAVAILABLE */
export async function putEntries(
  place: OperationPlace,
  entries: readonly WorkspaceEntry[],
  owner: EntryOwner,
): Promise<void> {
  const result = await runHelper(place, {
    script: 'put',
    user: owner === 'keeper' ? KEEPER : RUNNER,
    lines: [...foldersOf(entries), ''],
    input: inPieces(packEntries(entries)),
    timeoutMs: PUT_MS,
  });
  if (result.exitCode !== 0) throw failureOf(result);
}

function foldersOf(entries: readonly WorkspaceEntry[]): Set<string> {
  const folders = new Set<string>();
  for (const entry of entries) {
    for (const parent of parentsOf(entry.path)) folders.add(parent);
    if (entry.kind === 'directory') folders.add(entry.path);
  }
  return folders;
}

/** Joins small buffers, since each piece costs a process in the sandbox, and cuts large ones, so that an abort need not wait. */
async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const bytes of source) {
    held.push(bytes);
    heldBytes += bytes.length;
    if (heldBytes < PIECE_BYTES) continue;
    const whole = held.length === 1 ? bytes : Buffer.concat(held);
    for (let at = 0; at < whole.length; at += MAX_PIECE_BYTES) {
      yield whole.subarray(at, at + MAX_PIECE_BYTES);
    }
    held = [];
    heldBytes = 0;
  }
  yield Buffer.concat(held);
}

function failureOf({ exitCode, stderr }: HelperResult): SkillmillError {
  const why = stderr.trim().split('\n').slice(0, 3).join('; ');
  if (NO_PLACE_CODES.includes(exitCode)) return putFailed(why, diskFull.test(stderr));
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `Files cannot be put into the sandbox (exit code ${exitCode}): ${why}`,
  );
}
