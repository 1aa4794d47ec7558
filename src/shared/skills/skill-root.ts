import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DiagnosticList, quoted } from './skill-diagnostic.js';
import type { SkillDiagnostic } from './skill.js';

/** A skill root that is there. */
export interface SkillRoot {
  /** Real path. */
  readonly dir: string;
  /** As the operator knows it. */
  readonly shown: string;
}

/** A root as a folder of this machine, or what is wrong with it; plain paths and `file://` URLs without a host (or `localhost`); never throws. */
export async function resolveRoot(root: string): Promise<SkillRoot | SkillDiagnostic> {
  const found = new DiagnosticList(root);
  const shown = localPath(root, found);
  if (shown !== undefined) {
    const stats = await stat(shown).catch(() => undefined);
    if (stats?.isDirectory()) return { dir: await realpath(shown), shown };
    if (stats) found.error('root-not-a-directory', 'The skill root is not a folder.');
    else
      found.error(
        'root-missing',
        `The skill root does not exist or cannot be reached: ${resolve(shown)}.`,
      );
  }
  const [diagnostic] = found.all;
  if (!diagnostic) throw new Error('a root is a folder or has a diagnostic');
  return diagnostic;
}

function localPath(root: string, found: DiagnosticList): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(root)?.[1]?.toLowerCase();
  if (scheme === undefined || (scheme !== 'file' && !root.includes('://'))) return root;
  if (scheme !== 'file') {
    found.error(
      'root-url-unsupported',
      `URL roots (${scheme}://) are not supported in this version; give a folder or a file:// URL.`,
    );
    return undefined;
  }
  try {
    return fileURLToPath(root);
  } catch {
    found.error(
      'root-url-unsupported',
      `${quoted(root)} is not a file:// URL of a folder on this machine.`,
    );
    return undefined;
  }
}
