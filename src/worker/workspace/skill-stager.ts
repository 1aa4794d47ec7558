import type { SkillFile } from '../../shared/skills/skill.js';
import type { WorkspaceEntry } from '../executor/executor.js';

/** Names in a skill's folder that belong to the workspace; what a skill ships under them is left out. */
const links: Readonly<Record<string, string>> = {
  out: '../../out',
  work: '../../work',
  inputs: '../../work/inputs',
};
const virtualEnvironment = '.venv';

/** A skill's folder as commands see it: its files read-only, `.venv/` writable, links to the workspace's folders. */
export function skillEntries(name: string, files: readonly SkillFile[]): WorkspaceEntry[] {
  const root = `skills/${name}`;
  const own = files.filter((file) => !isReserved(file.path.split('/')[0] ?? ''));
  return [
    { path: root, kind: 'directory', mode: 0o755 },
    ...own.map((file) => ({
      path: `${root}/${file.path}`,
      kind: 'file' as const,
      mode: file.executable ? 0o555 : 0o444,
      content: file.content,
    })),
    { path: `${root}/${virtualEnvironment}`, kind: 'directory', mode: 0o777 },
    ...Object.entries(links).map(([link, target]) => ({
      path: `${root}/${link}`,
      kind: 'symlink' as const,
      mode: 0o777,
      target,
    })),
  ];
}

function isReserved(name: string): boolean {
  return name === virtualEnvironment || Object.hasOwn(links, name);
}
