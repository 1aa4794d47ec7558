import { join } from 'node:path';
import { checkEntry } from '../check-entry.js';
import type { Command, CommandResult } from '../command.js';
import type {
  EntryOwner,
  FileListing,
  OpenSandbox,
  ReadFile,
  RunHooks,
  WorkspaceEntry,
} from '../executor.js';
import { sandboxLost, sandboxUnavailable } from '../sandbox-failure.js';
import { Serial } from '../serial.js';
import { placeEntries } from './place-entries.js';
import { removeTree } from './remove-tree.js';
import { runProcess } from './run-process.js';
import { listTree, readTree } from './walk-files.js';

/** Where one local sandbox lies: its workspace, and a folder beside it as HOME and TMPDIR of its commands. */
export interface LocalFolders {
  readonly root: string;
  readonly workspace: string;
  readonly scratch: string;
}

/** A workspace in a temporary folder of this machine. It isolates nothing. */
export class LocalSandbox implements OpenSandbox {
  readonly workspaceDir: string;
  readonly #folders: LocalFolders;
  readonly #basePath: string;
  readonly #serial = new Serial();
  readonly #closing = new AbortController();
  #removal: Promise<void> | undefined;

  constructor(folders: LocalFolders, basePath: string) {
    this.workspaceDir = folders.workspace;
    this.#folders = folders;
    this.#basePath = basePath;
  }

  async put(entries: readonly WorkspaceEntry[], owner: EntryOwner): Promise<void> {
    for (const entry of entries) checkEntry(entry, owner);
    await this.#alone(async () => {
      try {
        await placeEntries(this.#folders.workspace, entries, owner);
      } catch (thrown) {
        throw sandboxUnavailable('Files cannot be put into the workspace', thrown);
      }
    });
  }

  async run(command: Command, hooks: RunHooks): Promise<CommandResult> {
    return await this.#alone(async () => {
      const signal = AbortSignal.any([hooks.signal, this.#closing.signal]);
      const folder = join(this.#folders.workspace, command.cwd);
      return await runProcess(command, folder, this.#environment(command), { ...hooks, signal });
    });
  }

  async list(folders: readonly string[], limit: number): Promise<FileListing> {
    return await this.#alone(() => listTree(this.#folders.workspace, folders, limit));
  }

  async *read(paths: readonly string[]): AsyncGenerator<ReadFile> {
    const leave = await this.#serial.enter();
    try {
      this.#closing.signal.throwIfAborted();
      yield* readTree(this.#folders.workspace, paths);
    } finally {
      leave();
    }
  }

  close(): Promise<void> {
    this.#closing.abort(sandboxLost('it was closed'));
    this.#removal ??= this.#serial
      .run(() => removeTree(this.#folders.root))
      .catch((thrown: unknown) => {
        this.#removal = undefined; // the next close tries again
        throw sandboxUnavailable(`Cannot remove ${this.#folders.root}`, thrown);
      });
    return this.#removal;
  }

  /** Nothing of the worker's own environment: it holds keys. */
  #environment(command: Command): Record<string, string> {
    const { scratch } = this.#folders;
    const own = { PATH: this.#basePath, HOME: scratch, TMPDIR: scratch, LANG: 'C.UTF-8' };
    return { ...own, ...command.env };
  }

  async #alone<T>(task: () => Promise<T>): Promise<T> {
    return await this.#serial.run(async () => {
      this.#closing.signal.throwIfAborted();
      return await task();
    });
  }
}
