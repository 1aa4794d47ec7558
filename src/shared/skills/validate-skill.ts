import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DiagnosticList, type SkillRule } from './skill-diagnostic.js';
import { docsOf } from './skill-docs.js';
import { readManifest } from './skill-index.js';
import { findSkills, type FoundTree } from './skill-tree.js';
import type { SkillDiagnostic } from './skill.js';
import { compareText } from './tree-file.js';

/** A finding of the strict reading: always with a line (1 when it concerns the whole file or folder). */
export type SkillFinding = SkillDiagnostic & { readonly line: number };

// Worth saying, though the Agent Skills specification does not forbid it; every other rule is an error.
const advice: ReadonlySet<string> = new Set<SkillRule>([
  'byte-order-mark',
  'line-endings',
  'front-matter-heading',
  'front-matter-second-block',
  'name-duplicate',
  'link-not-followed',
  'link-broken',
  'doc-too-large',
]);

/** Holds a skill folder, a SKILL.md or a folder of many skills against the Agent Skills specification; findings sorted by file and line, none when all is well; never throws for what is wrong in the files. */
export async function validateSkills(path: string): Promise<readonly SkillFinding[]> {
  const diagnostics = await diagnose(path);
  return diagnostics
    .map((each): SkillFinding => {
      const severity = each.severity === 'warning' && advice.has(each.rule) ? 'warning' : 'error';
      return { ...each, severity, line: each.line ?? 1 };
    })
    .sort((a, b) => compareText(a.file, b.file) || a.line - b.line);
}

async function diagnose(path: string): Promise<readonly SkillDiagnostic[]> {
  const found = new DiagnosticList(path);
  const stats = await stat(path).catch(() => undefined);
  if (!stats) {
    found.error('root-missing', 'There is no such file or folder.');
    return found.all;
  }
  if (stats.isDirectory()) return diagnoseTree(await treeAt(path), path);
  if (basename(path) !== 'SKILL.md') {
    const isMisspelt = /^skill\.md$/i.test(basename(path));
    if (isMisspelt) found.error('skill-file-case', `Found ${basename(path)}; it must be SKILL.md.`);
    else found.error('no-skill', 'The file is not a SKILL.md; give one, or a folder.');
    return found.all;
  }
  const tree = await treeAt(dirname(path));
  return diagnoseTree(
    { ...tree, skills: tree.skills.slice(0, 1), diagnostics: linksOnly(tree, path) },
    path,
  );
}

async function treeAt(folder: string): Promise<FoundTree> {
  const dir = await realpath(folder);
  return findSkills({ dir, shown: folder, within: [dir] });
}

/** Of a tree, what concerns this one SKILL.md though it was not read (it is a link). */
function linksOnly(tree: FoundTree, path: string): readonly SkillDiagnostic[] {
  return tree.diagnostics.filter(({ file }) => file === path);
}

async function diagnoseTree(tree: FoundTree, path: string): Promise<readonly SkillDiagnostic[]> {
  const all: SkillDiagnostic[] = [...tree.diagnostics];
  const firstOf = new Map<string, string>();
  for (const skill of tree.skills) {
    const { manifest, diagnostics } = await readManifest(skill);
    all.push(...skill.diagnostics, ...diagnostics);
    docsOf(skill.files, (doc) => new DiagnosticList(join(skill.shown, doc), all));
    if (!manifest) continue;
    const first = firstOf.get(manifest.name);
    if (first === undefined) firstOf.set(manifest.name, skill.shown);
    else {
      const file = join(skill.shown, 'SKILL.md');
      const message = `The name is that of ${first} as well; a repository uses the first one only.`;
      new DiagnosticList(file, all).warn('name-duplicate', message);
    }
  }
  if (tree.skills.length === 0 && all.length === 0) {
    new DiagnosticList(path, all).error(
      'no-skill',
      'There is no SKILL.md in this folder or below it.',
    );
  }
  return all;
}
