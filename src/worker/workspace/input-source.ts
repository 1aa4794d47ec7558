import { posix } from 'node:path';
import { parseArtifactRef } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { COMMAND_FOLDERS } from '../executor/check-entry.js';
import {
  expandWorkspaceVariables,
  inputsFolder,
  insideWorkspace,
  workspaceFolders,
} from './workspace-path.js';

/** One file or folder that a command asks for before it runs. */
export interface InputSpec {
  readonly src: string;
  /** Empty: below work/inputs, by its own name. */
  readonly dst: string;
  readonly mode: 'copy' | 'link';
  /** Keep to the version of the artifact that the session pinned first. */
  readonly pin: boolean;
}

/** Where an input comes from. */
export type InputSource =
  | { readonly kind: 'artifact'; readonly name: string; readonly version: number | undefined }
  | { readonly kind: 'host'; readonly path: string }
  | { readonly kind: 'workspace'; readonly path: string }
  | { readonly kind: 'skill'; readonly skill: string; readonly path: string };

/** What paths in an input are relative to. */
export interface InputBase {
  readonly workspaceDir: string;
  readonly runDir: string;
}

const forms = 'artifact://NAME[@VERSION], host://PATH, workspace://PATH or skill://NAME/PATH';

/** Reads an input's `src`. @throws SkillmillError TOOL_INPUT_INVALID */
export function parseSource(src: string, base: InputBase): InputSource {
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/([^\0]+)$/s.exec(src) ?? [];
  switch (scheme) {
    case 'artifact':
      return artifactOf(src);
    case 'host':
      return { kind: 'host', path: rest.startsWith('/') ? rest : `/${rest}` };
    case 'workspace': {
      const expanded = expandWorkspaceVariables(rest, base.runDir);
      const path = insideWorkspace(expanded, { workspaceDir: base.workspaceDir, base: '' });
      if (path === undefined) throw wrong('src', src, 'is outside skills/, work/, out/ and runs/');
      return { kind: 'workspace', path };
    }
    case 'skill': {
      const [skill = '', ...parts] = rest.split('/');
      const path = posix.normalize(parts.join('/')).replace(/^\.$|\/$/g, '');
      if (path.split('/').includes('..')) throw wrong('src', src, 'is outside the skill');
      return { kind: 'skill', skill, path };
    }
    default:
      throw wrong('src', src, `must be ${forms}`);
  }
}

function artifactOf(src: string): InputSource {
  const ref = parseArtifactRef(src);
  if (ref === undefined) throw wrong('src', src, 'must name one version, as in artifact://name@2');
  return { kind: 'artifact', ...ref };
}

/** The path in the workspace that an input goes to: below work/, out/ or runs/, and work/inputs/ where none of these is named.
 *  @throws SkillmillError TOOL_INPUT_INVALID */
export function destinationOf(dst: string, name: string, base: InputBase): string {
  const expanded = expandWorkspaceVariables(dst === '' ? 'inputs/' : dst, base.runDir);
  const absolute = posix.isAbsolute(expanded);
  const given = absolute
    ? posix.relative(base.workspaceDir, posix.normalize(expanded))
    : posix.normalize(expanded);
  const path = (absolute ? given : belowTop(given)).replace(/\/$/, '');
  const isFolder = /(^|\/)\.?$/.test(expanded) || path === inputsFolder || !path.includes('/');
  const whole = isFolder ? posix.join(path, name) : path;
  const [top = ''] = whole.split('/');
  if (whole.includes('\0') || !COMMAND_FOLDERS.includes(top)) {
    throw wrong('dst', dst, 'must be below work/, out/ or runs/ (skills are read-only)');
  }
  return whole;
}

/** `inputs/x` and `x` are below work/inputs; what names a folder of the workspace, or leaves it, stays as it is. */
function belowTop(path: string): string {
  const [top = ''] = path.split('/');
  if (top === 'inputs') return posix.join(workspaceFolders.WORK_DIR, path);
  const isNamed =
    top === '..' || top === workspaceFolders.SKILLS_DIR || COMMAND_FOLDERS.includes(top);
  return isNamed ? path : posix.join(inputsFolder, path);
}

/** The error for a wrong part of an input. */
export function wrong(field: 'src' | 'dst', value: string, why: string): SkillmillError {
  const shown = JSON.stringify(value.slice(0, 300));
  return new SkillmillError('TOOL_INPUT_INVALID', `inputs: ${field} ${shown} ${why}.`);
}
