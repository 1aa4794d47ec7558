import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { parentsOf } from '../check-entry.js';
import {
  entriesOf,
  EntryPack,
  type EntryList,
  type EntryOwner,
  type WorkspaceEntry,
} from '../executor.js';
import { putFailed } from '../put-failure.js';
import { KEEPER, RUNNER } from './sandbox-users.js';
import { runHelper, type HelperResult, type OperationPlace } from './run-helper.js';
import { archiveEnd, packEntries } from './tar-transfer.js';

const PUT_MS = 300_000;

/** What tar and our own script exit with when a file has no place; bash and the engine have other codes for a missing tar. */
export const NO_PLACE_CODES = [1, 2];

/** What tar says of a full disk. */
export const diskFull =
  /No space left on device|File too large|Disk quota|Wrote only \d+ of \d+ bytes/;

/** Puts entries into a container's workspace, in order. @throws the signal's reason; SkillmillError TOOL_FAILED when something
 *  is in the way, LIMIT_EXCEEDED when the disk is full, SANDBOX_UNAVAILABLE */
export async function putEntries(
  place: OperationPlace,
  list: EntryList,
  owner: EntryOwner,
): Promise<void> {
  const result = await runHelper(place, {
    script: 'put',
    user: owner === 'keeper' ? KEEPER : RUNNER,
    lines: [...foldersOf(entriesOf(list)), ''],
    input: await archiveOf(list),
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

/** Archives of packs, without their end. */
const archives = new WeakMap<EntryPack, Promise<readonly Buffer[]>>();

async function archiveOf(list: EntryList): Promise<readonly Buffer[]> {
  const parts = await Promise.all(
    list.map((item) => (item instanceof EntryPack ? archiveOfPack(item) : packEntries([item]))),
  );
  return [...parts.flat(), archiveEnd];
}

function archiveOfPack(pack: EntryPack): Promise<readonly Buffer[]> {
  const known = archives.get(pack);
  if (known !== undefined) return known;
  const packed = packEntries(pack.entries);
  archives.set(pack, packed);
  return packed;
}

function failureOf({ exitCode, stderr }: HelperResult): SkillmillError {
  const why = stderr.trim().split('\n').slice(0, 3).join('; ');
  if (NO_PLACE_CODES.includes(exitCode)) return putFailed(why, diskFull.test(stderr));
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    `Files cannot be put into the sandbox (exit code ${exitCode}): ${why}`,
  );
}
