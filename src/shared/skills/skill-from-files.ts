import { parseSkill } from './parse-skill.js';
import { DiagnosticList } from './skill-diagnostic.js';
import { sha256, treeDigest } from './skill-digest.js';
import { docsOf } from './skill-docs.js';
import type { Skill, SkillFile } from './skill.js';
import { decodeText } from './source-text.js';

/** The skill that these files are, read as its folder would be; undefined when they hold none. `name` is its folder's. */
export function skillFromFiles(name: string, files: readonly SkillFile[]): Skill | undefined {
  const source = files.find(({ path }) => path === 'SKILL.md');
  if (source === undefined) return undefined;
  const { text } = decodeText(source.content);
  const { manifest } = parseSkill({ text, folderName: name, file: 'SKILL.md' });
  if (manifest === undefined) return undefined;
  const digest = treeDigest(
    files.map(({ path, executable, content }) => ({ path, executable, sha256: sha256(content) })),
  );
  const sizes = files.map(({ path, content }) => ({ path, bytes: content.byteLength }));
  const docs = docsOf(sizes, (path) => new DiagnosticList(path));
  return { ...manifest, dir: name, digest, docs };
}
