import type { SkillRequirements } from './skill-requirements.js';

/** One thing that is wrong with a skill, a skill root or a listing; it never takes the repository down. */
export interface SkillDiagnostic {
  /** A stable rule name in kebab case, e.g. `description-unquoted-colon`. */
  readonly rule: string;
  readonly severity: 'error' | 'warning';
  /** Path of the file or folder, as the operator knows it. */
  readonly file: string;
  /** 1-based; absent when it concerns the whole file. */
  readonly line?: number;
  /** What is wrong and what to do, one sentence. */
  readonly message: string;
}

/** What a SKILL.md says, after the liberal reading. */
export interface SkillManifest {
  readonly name: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** What it needs of the sandbox and of the operator; absent when it states nothing. */
  readonly requirements?: SkillRequirements;
  /** The `Tools:` list of the body. */
  readonly tools: readonly string[];
  /** Markdown after the front matter, with `__BASE_DIR__` as written. */
  readonly body: string;
}

/** A skill of the repository. */
export interface Skill extends SkillManifest {
  /** Absolute path of the skill's folder on this machine. */
  readonly dir: string;
  /** SHA-256 (hex) over the sorted relative paths, execute bits and contents of the skill's files. */
  readonly digest: string;
  /** `.md` and `.txt` files other than SKILL.md, by relative path, sorted. */
  readonly docs: readonly string[];
}

/** A file of a skill's tree, as it is staged. */
export interface SkillFile {
  /** Relative to the skill's folder, `/` between parts. */
  readonly path: string;
  readonly executable: boolean;
  readonly content: Uint8Array;
}
