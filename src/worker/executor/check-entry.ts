import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { EntryOwner, WorkspaceEntry } from './executor.js';

/** Where commands own what lies there; everything else of the workspace is the keeper's. */
export const COMMAND_FOLDERS: readonly string[] = ['work', 'out', 'runs'];

/** Checks once more that an entry stays where its owner may write. Callers have checked its path; a slip there must not
 *  let the keeper write where a command may have planted a link. @throws SkillmillError INTERNAL naming the path */
export function checkEntry(entry: WorkspaceEntry, owner: EntryOwner): void {
  const parts = entry.path.split('/');
  if (entry.path.includes('\0') || parts.some((part) => ['', '.', '..'].includes(part))) {
    throw refusal(entry, 'is not a path inside the workspace');
  }
  const [top = ''] = parts;
  const keeperMay = entry.path === 'metadata.json' || top === 'skills';
  if (owner === 'keeper' && !keeperMay) throw refusal(entry, 'is not below skills/');
  if (owner === 'command' && !COMMAND_FOLDERS.includes(top)) {
    throw refusal(entry, `is not below one of ${COMMAND_FOLDERS.join(', ')}`);
  }
  if (parts.length === 1 && entry.path !== 'metadata.json' && entry.kind !== 'directory') {
    throw refusal(entry, 'would replace a folder of the workspace');
  }
}

/** The folders above a path, outermost first: `work/a/b` gives `work` and `work/a`. */
export function parentsOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function refusal(entry: WorkspaceEntry, why: string): SkillmillError {
  return new SkillmillError(
    'INTERNAL',
    `Cannot put ${JSON.stringify(entry.path)} into the workspace: it ${why}.`,
  );
}
