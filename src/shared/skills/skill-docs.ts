import type { DiagnosticList } from './skill-diagnostic.js';
import { decodeText, normalizeText } from './source-text.js';
import type { TreeFile } from './tree-file.js';

/** Largest doc that is shown to a model, in bytes (issue 3). */
export const maxDocBytes = 1024 * 1024;

/** What stands in bodies and docs for the skill's folder in the workspace. */
const baseDirMark = '__BASE_DIR__';

/** Is this path of a skill a doc: `.md` or `.txt`, and not the skill's own SKILL.md (DESIGN §4.1)? */
export function isDocPath(path: string): boolean {
  return /\.(?:md|txt)$/i.test(path) && !/^skill\.md$/i.test(path);
}

/** The paths of a skill's docs, in the order of its files; one that is too large is reported to the list that `found` gives for its path, and left out. */
export function docsOf(
  files: readonly Pick<TreeFile, 'path' | 'bytes'>[],
  found: (path: string) => DiagnosticList,
): readonly string[] {
  const docs = files.filter((file) => isDocPath(file.path));
  for (const doc of docs) {
    if (doc.bytes <= maxDocBytes) continue;
    const message = `The doc has ${doc.bytes} bytes; at most ${maxDocBytes} are shown, so it is not listed.`;
    found(doc.path).warn('doc-too-large', message);
  }
  return docs.filter((doc) => doc.bytes <= maxDocBytes).map((doc) => doc.path);
}

/** A doc's bytes as the text that a model sees: `\n` line ends, no byte order mark, `__BASE_DIR__` replaced by the skill's folder in the workspace. */
export function docText(content: Uint8Array, baseDir: string): string {
  return withBaseDir(normalizeText(decodeText(content).text), baseDir);
}

/** A body or doc with every `__BASE_DIR__` replaced by the skill's folder in the workspace. */
export function withBaseDir(text: string, baseDir: string): string {
  return text.replaceAll(baseDirMark, () => baseDir);
}
