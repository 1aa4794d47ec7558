import { posix } from 'node:path';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';

/** The workspace's folders, and the variables that name them in commands, globs and working folders. */
export const workspaceFolders = {
  SKILLS_DIR: 'skills',
  WORK_DIR: 'work',
  OUTPUT_DIR: 'out',
  RUNS_DIR: 'runs',
} as const;

/** All of them: what lies elsewhere is outside the workspace. */
export const topFolders: readonly string[] = Object.values(workspaceFolders);

/** Where a turn's files are put, and a command's inputs that name no other place. */
export const inputsFolder = `${workspaceFolders.WORK_DIR}/inputs`;

/** `$OUTPUT_DIR/x` or `${OUTPUT_DIR}/x` as a path of the workspace; a variable it does not know stays as it is. */
export function expandWorkspaceVariables(path: string, runDir: string): string {
  const known: Readonly<Record<string, string>> = {
    ...workspaceFolders,
    WORKSPACE_DIR: '.',
    RUN_DIR: runDir,
  };
  return path.replace(
    /^\$(?:\{([A-Z_]+)\}|([A-Z_]+))(?=\/|$)/,
    (whole, braced: string | undefined, bare: string | undefined) =>
      known[braced ?? bare ?? ''] ?? whole,
  );
}

/** A working folder that was asked for, and what it may be relative to. */
export interface WorkingFolder {
  /** As the model gave it; empty for the skill's own. */
  readonly cwd: string;
  readonly skillDir: string;
  readonly runDir: string;
  /** Absolute path of the workspace as commands see it. */
  readonly workspaceDir: string;
}

/** Where a command runs, relative to the workspace. @throws SkillmillError TOOL_INPUT_INVALID for a folder outside it */
export function resolveWorkingFolder(given: WorkingFolder): string {
  const { cwd, skillDir, runDir, workspaceDir } = given;
  if (cwd === '' || cwd === '.') return skillDir;
  const expanded = expandWorkspaceVariables(cwd, runDir);
  const path = insideWorkspace(expanded, { workspaceDir, base: expanded === cwd ? skillDir : '' });
  if (path !== undefined) return path;
  throw new SkillmillError(
    'TOOL_INPUT_INVALID',
    `cwd ${JSON.stringify(cwd)} is outside the workspace. Give a folder below the skill's, or one that begins with $WORK_DIR, $OUTPUT_DIR, $RUN_DIR or $SKILLS_DIR.`,
  );
}

/** A path that may be absolute or relative to `base`, as one below a folder of the workspace; undefined when it is outside. */
export function insideWorkspace(
  path: string,
  { workspaceDir, base }: { readonly workspaceDir: string; readonly base: string },
): string | undefined {
  if (path.includes('\0')) return undefined;
  const absolute = posix.isAbsolute(path) ? path : posix.join(workspaceDir, base, path);
  const relative = posix.relative(workspaceDir, posix.normalize(absolute));
  const top = relative.split('/')[0] ?? '';
  return topFolders.includes(top) ? relative : undefined;
}

/** Has this part of a path wildcards? */
export function isGlob(part: string): boolean {
  return /[*?[\]{}()!]/.test(part);
}

/** The same for a glob: only files below the four folders are ever matched, so its first part may have wildcards. */
export function globInside(glob: string, workspaceDir: string): string | undefined {
  const path = insideWorkspace(glob, { workspaceDir, base: '' });
  if (path !== undefined) return path;
  const [first = '', ...others] = glob.split('/');
  const isChoice = isGlob(first) && !first.includes('*') && !others.includes('..');
  return isChoice ? glob : undefined;
}
