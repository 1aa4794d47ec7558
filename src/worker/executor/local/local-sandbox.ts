import { join } from 'node:path';
import { errorMessage, SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { checkEntry } from '../check-entry.js';
import type { Command, CommandResult } from '../command.js';
import {
  entriesOf,
  type EntryList,
  type EntryOwner,
  type FileListing,
  type OpenSandbox,
  type ReadFile,
  type RestoredEntry,
  type RunHooks,
  type SeenEntry,
  type Tree,
} from '../executor.js';
import { putFailed } from '../put-failure.js';
import { runDirOf, runsOf } from '../run-dirs.js';
import { sandboxLost, sandboxUnavailable } from '../sandbox-failure.js';
import { Serial } from '../serial.js';
import { untilAbort } from '../../async/until-abort.js';
import { placeEntries } from './place-entries.js';
import { removeTree } from './remove-tree.js';
import { runProcess } from './run-process.js';
import { fetchFiles, restoreTree, scanTree } from './snapshot-files.js';
import { listTree, readTree } from './walk-files.js';

/** Where one local sandbox lies: its workspace, and a folder beside it as HOME and TMPDIR of its commands. */
export interface LocalFolders {
  readonly root: string;
  readonly workspace: string;
  readonly scratch: string;
}

const FULL_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** What the file system says when what lies in the workspace is in the way. */
const IN_THE_WAY_CODES: readonly unknown[] = [
  ...['EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR'],
  ...['EEXIST', 'ENOTEMPTY', 'ENAMETOOLONG', 'ELOOP'],
];

/** What a local sandbox has to do with besides its folders. */
export interface LocalTies {
  /** PATH of its commands. */
  readonly basePath: string;
  /** Ends all that its owner waits for, but commands: they have signals of their own. */
  readonly signal: AbortSignal;
  /** Called when it was closed, whether its folders could be removed or not. */
  readonly onClosed: () => void;
}

/** A workspace in a temporary folder of this machine. It isolates nothing. */
export class LocalSandbox implements OpenSandbox {
  readonly workspaceDir: string;
  readonly #folders: LocalFolders;
  readonly #ties: LocalTies;
  readonly #serial = new Serial();
  readonly #closing = new AbortController();
  #removal: Promise<void> | undefined;
  readonly #runs = runsOf(new Date());
  #commands = 0;

  constructor(folders: LocalFolders, ties: LocalTies) {
    this.workspaceDir = folders.workspace;
    this.#folders = folders;
    this.#ties = ties;
  }

  nextRunDir(): string {
    return runDirOf(this.#runs, this.#commands + 1);
  }

  async put(list: EntryList, owner: EntryOwner): Promise<void> {
    const entries = entriesOf(list);
    for (const entry of entries) checkEntry(entry, owner);
    await this.#untilAbort(async (signal) => {
      try {
        await placeEntries(this.#folders.workspace, entries, owner, signal);
      } catch (thrown) {
        signal.throwIfAborted();
        throw failureOf(thrown);
      }
    });
  }

  async run(command: Command, hooks: RunHooks): Promise<CommandResult> {
    return await this.#alone(async () => {
      this.#commands += 1;
      const signal = AbortSignal.any([hooks.signal, this.#closing.signal]);
      const folder = join(this.#folders.workspace, command.cwd);
      const { workspace } = this.#folders;
      const env = this.#environment(command);
      return await runProcess(command, { workspace, folder, env }, { ...hooks, signal });
    });
  }

  async list(folders: readonly string[], limit: number): Promise<FileListing> {
    return await this.#untilAbort((signal) =>
      listTree(this.#folders.workspace, folders, limit, signal),
    );
  }

  read(paths: readonly string[]): AsyncGenerator<ReadFile> {
    return this.#reading((root, signal) => readTree(root, paths, signal));
  }

  fetch(files: readonly SeenEntry[], scanned: Tree): AsyncGenerator<ReadFile> {
    return this.#reading((root, signal) => fetchFiles(root, { files, scanned }, signal));
  }

  async scan(folders: readonly string[]): Promise<Tree> {
    return await this.#untilAbort((signal) => scanTree(this.#folders.workspace, folders, signal));
  }

  async restore(entries: AsyncIterable<RestoredEntry>): Promise<void> {
    await this.#untilAbort(async (signal) => {
      try {
        await restoreTree(this.#folders.workspace, entries, signal);
      } catch (thrown) {
        signal.throwIfAborted();
        throw thrown instanceof SkillmillError ? thrown : failureOf(thrown);
      }
    });
  }

  async *#reading(
    read: (root: string, signal: AbortSignal) => AsyncIterable<ReadFile>,
  ): AsyncGenerator<ReadFile> {
    const { signal } = this.#ties;
    const leave = await this.#serial.enter(signal);
    try {
      this.#closing.signal.throwIfAborted();
      yield* read(this.#folders.workspace, signal);
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(sandboxLost('it was closed'));
    this.#removal ??= this.#serial
      .run(() => removeTree(this.#folders.root))
      .catch((thrown: unknown) => {
        this.#removal = undefined; // the next close tries again
        throw sandboxUnavailable(`Cannot remove ${this.#folders.root}`, thrown);
      });
    try {
      await this.#removal;
    } finally {
      this.#ties.onClosed();
    }
  }

  /** Nothing of the worker's own environment: it holds keys. */
  #environment(command: Command): Record<string, string> {
    const { scratch } = this.#folders;
    const own = { PATH: this.#ties.basePath, HOME: scratch, TMPDIR: scratch, LANG: 'C.UTF-8' };
    return { ...own, ...command.env };
  }

  /** Like #alone, for what the sandbox's signal ends, be it still waiting for its turn. */
  async #untilAbort<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#ties;
    signal.throwIfAborted();
    const work = this.#alone(async () => {
      signal.throwIfAborted();
      return await task(signal);
    });
    return await untilAbort(work, signal);
  }

  async #alone<T>(task: () => Promise<T>): Promise<T> {
    return await this.#serial.run(async () => {
      this.#closing.signal.throwIfAborted();
      return await task();
    });
  }
}

function failureOf(thrown: unknown): Error {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  const full = FULL_CODES.includes(code);
  if (full || IN_THE_WAY_CODES.includes(code)) return putFailed(errorMessage(thrown), full, thrown);
  return sandboxUnavailable('Files cannot be put into the workspace', thrown);
}
