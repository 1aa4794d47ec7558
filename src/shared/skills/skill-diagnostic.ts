import type { SkillDiagnostic } from './skill.js';

/** Every rule name that the skill reader and validator use; a name is never changed once released. */
export type SkillRule =
  // the file as text
  | 'skill-file-too-large'
  | 'skill-file-encoding'
  | 'skill-file-not-text'
  | 'skill-file-case'
  | 'skill-file-unreadable'
  | 'byte-order-mark'
  | 'line-endings'
  // front matter
  | 'front-matter-missing'
  | 'front-matter-late'
  | 'front-matter-language'
  | 'front-matter-closing'
  | 'front-matter-unclosed'
  | 'front-matter-heading'
  | 'front-matter-second-block'
  | 'front-matter-too-large'
  | 'front-matter-too-complex'
  | 'front-matter-not-a-map'
  | 'front-matter-syntax'
  | 'duplicate-key'
  | 'key-spelling'
  | 'unknown-key'
  | 'unquoted-colon'
  | 'value-unreadable'
  | 'tab-indentation'
  // fields
  | 'name-missing'
  | 'name-unsafe'
  | 'name-format'
  | 'name-too-long'
  | 'name-folder-mismatch'
  | 'name-duplicate'
  | 'description-missing'
  | 'description-too-long'
  | 'compatibility-too-long'
  | 'field-type'
  | 'requires-format'
  // folders and roots
  | 'link-not-followed'
  | 'link-broken'
  | 'file-unreadable'
  | 'doc-too-large'
  | 'skill-too-many-files'
  | 'skill-too-large'
  | 'folder-too-deep'
  | 'no-skill'
  | 'root-missing'
  | 'root-not-a-directory'
  | 'root-url-unsupported';

/** Collects the diagnostics of one file or folder, so that a reader says only rule, sentence and line. */
export class DiagnosticList {
  readonly all: SkillDiagnostic[];
  readonly #file: string;

  /** Adds to `all`, which may be a list that others add to as well. */
  constructor(file: string, all: SkillDiagnostic[] = []) {
    this.#file = file;
    this.all = all;
  }

  /** The skill or root is left out because of this. */
  error(rule: SkillRule, message: string, line?: number): void {
    this.#add({ rule, severity: 'error', file: this.#file, message }, line);
  }

  /** The skill is used all the same. */
  warn(rule: SkillRule, message: string, line?: number): void {
    this.#add({ rule, severity: 'warning', file: this.#file, message }, line);
  }

  #add(diagnostic: SkillDiagnostic, line: number | undefined): void {
    this.all.push(line === undefined ? diagnostic : { ...diagnostic, line });
  }
}

/** A piece of untrusted text as it may stand in a message: quoted, on one line, at most 80 characters of it. */
export function quoted(text: string): string {
  const points = Array.from(text.slice(0, 200));
  return JSON.stringify(points.length > 80 ? `${points.slice(0, 80).join('')}…` : points.join(''));
}
