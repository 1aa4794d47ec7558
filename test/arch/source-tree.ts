import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

export const projectDir = join(import.meta.dirname, '..', '..');

export interface SourceFile {
  /** Relative to the project, e.g. `src/shared/redis/keys.ts`. */
  readonly path: string;
  readonly lines: number;
  /** Modules as they are written: packages, `node:` and relative ones; type-only, dynamic and re-exports too. */
  readonly imports: readonly string[];
}

/** Every TypeScript file below a folder, with what it imports. */
export function sourceFiles(folder: string): SourceFile[] {
  const paths = typescriptFiles(join(projectDir, folder));
  return paths.map((absolute) => {
    const text = readFileSync(absolute, 'utf8');
    return {
      path: relative(projectDir, absolute),
      lines: text.trimEnd().split('\n').length,
      imports: ts.preProcessFile(text, true, true).importedFiles.map((file) => file.fileName),
    };
  });
}

/** The file of src that a relative import names. */
export function target(from: SourceFile, specifier: string): string {
  return join(dirname(from.path), specifier).replace(/\.js$/, '.ts');
}

/** Files that can be reached from these by imports, themselves included. */
export function reachable(files: readonly SourceFile[], from: readonly SourceFile[]): Set<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set<string>();
  const visit = (path: string) => {
    const file = byPath.get(path);
    if (file === undefined || seen.has(path)) return;
    seen.add(path);
    for (const name of file.imports) if (name.startsWith('.')) visit(target(file, name));
  };
  for (const file of from) visit(file.path);
  return seen;
}

function typescriptFiles(folder: string): string[] {
  return ts.sys.readDirectory(folder, ['.ts']).sort();
}
