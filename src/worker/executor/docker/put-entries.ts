import { Readable } from 'node:stream';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { innerParents } from '../check-entry.js';
import type { EntryOwner, WorkspaceEntry } from '../executor.js';
import { KEEPER, RUNNER } from './container-spec.js';
import type { DockerEngine } from './docker-engine.js';
import { runHelper } from './exec-helper.js';
import { packEntries } from './tar-transfer.js';

const PUT_MS = 300_000;

/** Removes links that stand where a folder is to be, since tar would follow them, and gives up where it may not: the keeper
 *  cannot remove what a command has planted in a folder of its own. The folders come first on standard input, each closed
 *  by NUL and all by an empty one; bash reads a pipe byte by byte, so tar finds the rest untouched. No command runs meanwhile. */
const script = `
umask 022
cd /workspace || exit 1
while IFS= read -r -d '' folder && [[ -n $folder ]]; do
  if [[ -L $folder ]]; then rm -f -- "$folder" || exit 1; fi
done
exec tar -x -f - --no-same-owner -p -m
`;

/** Puts entries into a container's workspace, in order. @throws SkillmillError SANDBOX_UNAVAILABLE, LIMIT_EXCEEDED when the disk is full */
export async function putEntries(
  engine: DockerEngine,
  container: string,
  entries: readonly WorkspaceEntry[],
  owner: EntryOwner,
): Promise<void> {
  const result = await runHelper(engine, container, {
    script,
    user: owner === 'keeper' ? KEEPER : RUNNER,
    stdin: Readable.from(inputOf(entries), { objectMode: false }),
    timeoutMs: PUT_MS,
  });
  if (result.exitCode !== 0) throw putFailed(result.stderr);
}

async function* inputOf(entries: readonly WorkspaceEntry[]): AsyncGenerator<Buffer> {
  const folders = new Set<string>();
  for (const entry of entries) {
    for (const parent of innerParents(entry.path)) folders.add(parent);
    if (entry.kind === 'directory') folders.add(entry.path);
  }
  yield Buffer.from([...folders, ''].map((folder) => `${folder}\0`).join(''), 'utf8');
  yield* packEntries(entries);
}

function putFailed(stderr: string): SkillmillError {
  const full = /No space left on device|File too large|Disk quota/.test(stderr);
  const why = stderr.trim().split('\n').slice(0, 3).join('; ');
  return full
    ? new SkillmillError('LIMIT_EXCEEDED', `The sandbox’s disk is full: ${why}`)
    : new SkillmillError('SANDBOX_UNAVAILABLE', `Files cannot be put into the sandbox: ${why}`);
}
