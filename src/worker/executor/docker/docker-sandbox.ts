import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { checkCommand } from '../check-command.js';
import { checkEntry } from '../check-entry.js';
import type { Command, CommandResult } from '../command.js';
import type { ExecutorLog } from '../executor-log.js';
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
import { runDirOf } from '../run-dirs.js';
import { isSandboxLost, sandboxLost } from '../sandbox-failure.js';
import { Serial } from '../serial.js';
import { untilAbort } from '../../async/until-abort.js';
import { WORKSPACE } from './container-spec.js';
import { putEntries } from './put-entries.js';
import { runCommand } from './run-command.js';
import type { OperationPlace } from './run-helper.js';
import type { LiveContainer } from './live-container.js';
import { fetchFiles, listFiles, readFiles } from './workspace-files.js';
import { restoreTree, scanTree } from './workspace-tree.js';

/** Who has to do with a container besides its sandbox. */
export interface SandboxTies {
  readonly log: ExecutorLog;
  /** Ends all that its owner waits for, but commands: they have signals of their own. */
  readonly signal: AbortSignal;
  /** Called when it was closed, whether its container could be removed or not. */
  readonly onClosed: () => void;
}

/** One live container. All its operations run one after another, since its supervisor takes one request at a time.
 *  Modes: open → lost (any failure of the engine; the container is removed) → closed. */
export class DockerSandbox implements OpenSandbox {
  readonly workspaceDir = WORKSPACE;
  readonly #live: LiveContainer;
  readonly #ties: SandboxTies;
  readonly #serial = new Serial();
  #oomKills = 0;
  #commands = 0;
  #gone: SkillmillError | undefined;

  constructor(live: LiveContainer, ties: SandboxTies) {
    this.#live = live;
    this.#ties = ties;
  }

  nextRunDir(): string {
    return runDirOf(this.#live.runs, this.#commands + 1);
  }

  async put(list: EntryList, owner: EntryOwner): Promise<void> {
    const entries = entriesOf(list);
    for (const entry of entries) checkEntry(entry, owner);
    if (entries.length === 0) return;
    await this.#untilAbort((place) => putEntries(place, list, owner));
  }

  async run(command: Command, hooks: RunHooks): Promise<CommandResult> {
    checkCommand(command);
    return await this.#alone(async () => {
      hooks.signal.throwIfAborted();
      this.#commands += 1;
      const { result, aborted, oomKills } = await runCommand(this.#place(), command, hooks);
      if (oomKills === undefined) this.#lose(sandboxLost('a command in it could not be ended'));
      if (aborted) hooks.signal.throwIfAborted();
      const outOfMemory = (oomKills ?? 0) > this.#oomKills;
      this.#oomKills = oomKills ?? 0;
      return { ...result, outOfMemory };
    });
  }

  async list(folders: readonly string[], limit: number): Promise<FileListing> {
    return await this.#untilAbort((place) => listFiles(place, folders, limit));
  }

  read(paths: readonly string[]): AsyncGenerator<ReadFile> {
    return this.#reading((place) => readFiles(place, paths));
  }

  async *#reading(
    read: (place: OperationPlace) => AsyncIterable<ReadFile>,
  ): AsyncGenerator<ReadFile> {
    const { signal } = this.#ties;
    const leave = await this.#serial.enter(signal);
    try {
      this.#mustLive();
      yield* read(this.#place());
    } catch (thrown) {
      this.#noteLoss(thrown);
      signal.throwIfAborted();
      throw this.#gone ?? thrown;
    } finally {
      leave();
    }
  }

  async scan(folders: readonly string[]): Promise<Tree> {
    return await this.#untilAbort((place) => scanTree(place, folders));
  }

  fetch(files: readonly SeenEntry[], scanned: Tree): AsyncGenerator<ReadFile> {
    return this.#reading((place) => fetchFiles(place, files, scanned));
  }

  async restore(entries: AsyncIterable<RestoredEntry>): Promise<void> {
    await this.#untilAbort((place) => restoreTree(place, entries));
  }

  async close(): Promise<void> {
    this.#gone ??= sandboxLost('it was closed');
    try {
      await this.#live.remove();
    } finally {
      this.#ties.onClosed();
    }
  }

  /** Like #alone, for what the sandbox's signal ends, be it still waiting for its turn. */
  async #untilAbort<T>(task: (place: OperationPlace) => Promise<T>): Promise<T> {
    const { signal } = this.#ties;
    signal.throwIfAborted();
    const work = this.#alone(async () => {
      signal.throwIfAborted();
      return await task(this.#place());
    });
    return await untilAbort(work, signal);
  }

  async #alone<T>(task: () => Promise<T>): Promise<T> {
    return await this.#serial.run(async () => {
      this.#mustLive();
      try {
        return await task();
      } catch (thrown) {
        this.#noteLoss(thrown);
        // Closing ends what runs with some engine error; "it was closed" is the better reason.
        throw isSandboxLost(thrown) ? (this.#gone ?? thrown) : thrown;
      }
    });
  }

  #place(): OperationPlace {
    const { engine, name: container, channel } = this.#live;
    return { engine, container, channel, signal: this.#ties.signal };
  }

  #mustLive(): void {
    if (this.#gone !== undefined) throw this.#gone;
  }

  #noteLoss(thrown: unknown): void {
    if (thrown instanceof SkillmillError && isSandboxLost(thrown)) this.#lose(thrown);
  }

  #lose(why: SkillmillError): void {
    if (this.#gone !== undefined) return;
    this.#gone = why;
    this.#ties.log('warn', why.message, { container: this.#live.name });
    // In the background: what is lost may not answer, and the caller closes the sandbox anyway.
    this.#live.remove().catch(() => undefined);
  }
}
