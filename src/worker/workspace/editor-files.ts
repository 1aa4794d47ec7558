import type { WorkspaceEntry } from '../executor/executor.js';

/** Writes its text over the last file that it is given, as an editor of one who types fast. */
const script = `#!/bin/sh
target=
for target do :; done
if [ -z "$target" ]; then
  echo 'editor_text: the editor was given no file' >&2
  exit 1
fi
exec /bin/cat -- "\${0%/*}/text" > "$target"
`;

/** An editor for programs that start one: what to put into the run's folder, and the path of the program. */
export function editorFiles(
  runDir: string,
  text: string,
): { readonly entries: readonly WorkspaceEntry[]; readonly program: string } {
  const folder = `${runDir}/.editor`;
  const file = (name: string, mode: number, content: string): WorkspaceEntry => ({
    ...{ path: `${folder}/${name}`, kind: 'file', mode, content: Buffer.from(content) },
  });
  return {
    entries: [file('text', 0o644, text), file('edit', 0o755, script)],
    program: `${folder}/edit`,
  };
}
