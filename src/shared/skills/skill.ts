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

/** What a skill needs of the place where its commands run (tRPC-Agent's extended front matter, under `metadata`). */
export interface SkillRequirements {
  /** Its key in the operator's config file, when that is not its name. */
  readonly key?: string;
  /** Offer it whatever the rest says. */
  readonly always: boolean;
  /** Systems it runs on, as Node names them (`linux`, `darwin`, `win32`); empty is any. */
  readonly os: readonly string[];
  /** Programs that must all be on the sandbox's PATH. */
  readonly bins: readonly string[];
  /** Programs of which one must be; empty asks for none. */
  readonly anyBins: readonly string[];
  /** Environment variables that must be set. */
  readonly env: readonly string[];
  /** The variable that the operator's `apiKey` for the skill sets. */
  readonly primaryEnv?: string;
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
