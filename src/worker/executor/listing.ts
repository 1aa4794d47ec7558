import type { FileListing, WorkspaceFile } from './executor.js';

const MAX_SKIPPED = 20;

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
