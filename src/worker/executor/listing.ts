import { parentsOf } from './check-entry.js';
import type { FileListing, SeenEntry, Tree, WorkspaceFile } from './executor.js';

const MAX_SKIPPED = 20;
/** Beyond it a scan is cut, so that a command cannot fill the worker's memory with names. */
const MAX_ENTRIES = 150_000;

/** Why `read` gives no content for a path. */
export const UNREADABLE =
  'it is gone, may not be read, is no regular file, or is reached through a link';

/** Gathers what was found in a workspace: sorted, each path once, cut at a limit. */
export class ListingBuilder {
  readonly #limit: number;
  readonly #files = new Map<string, WorkspaceFile>();
  readonly #skipped = new Map<string, string>();
  #truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many regular files were found so far. */
  get count(): number {
    return this.#files.size;
  }

  add(file: WorkspaceFile): void {
    this.#files.set(file.path, file);
  }

  /** Notes an entry that is left out; beyond 20 they are no longer told. */
  skip(path: string, reason: string): void {
    if (this.#skipped.size < MAX_SKIPPED) this.#skipped.set(path, reason);
  }

  /** Says that not everything was looked at. */
  cut(): void {
    this.#truncated = true;
  }

  build(): FileListing {
    const files = [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    return {
      files: files.slice(0, this.#limit),
      skipped: [...this.#skipped].map(([path, reason]) => ({ path, reason })),
      truncated: this.#truncated || files.length > this.#limit,
    };
  }
}

/** A folder that its owner cannot look into. */
export function isClosedFolder({ kind, mode }: SeenEntry): boolean {
  return kind === 'directory' && (mode & 0o500) !== 0o500;
}

/** A file that its owner cannot read. */
export function isClosedFile({ kind, mode }: SeenEntry): boolean {
  return kind === 'file' && (mode & 0o400) === 0;
}

/** The folders above files that a scan does not tell of, those it began at among them, outermost first. A command may have closed
 *  them too. */
export function foldersAboveScan(
  files: readonly SeenEntry[],
  { entries }: Tree,
): readonly string[] {
  const told = new Set(entries.map(({ path }) => path));
  const above = new Set(files.flatMap(({ path }) => parentsOf(path)));
  return [...above].filter((path) => !told.has(path)).sort();
}

/** Gathers what a scan has found: sorted, each path once. */
export class TreeBuilder {
  readonly #entries = new Map<string, SeenEntry>();
  readonly #skipped = new Map<string, string>();
  #truncated = false;

  add(entry: SeenEntry): void {
    if (this.#entries.size < MAX_ENTRIES) this.#entries.set(entry.path, entry);
    else this.#truncated = true;
  }

  /** Notes an entry that is left out; beyond 20 they are no longer told. */
  skip(path: string, reason: string): void {
    if (this.#skipped.size < MAX_SKIPPED) this.#skipped.set(path, reason);
  }

  /** Says that not everything was looked at. */
  cut(): void {
    this.#truncated = true;
  }

  build(): Tree {
    return {
      entries: [...this.#entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
      skipped: [...this.#skipped].map(([path, reason]) => ({ path, reason })),
      truncated: this.#truncated,
    };
  }
}
