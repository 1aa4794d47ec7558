import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import { checkCommand } from '../check-command.js';
import { checkEntry } from '../check-entry.js';
import type { Command, CommandResult } from '../command.js';
import type { ExecutorLog } from '../executor-log.js';
import type {
  EntryOwner,
  FileListing,
  OpenSandbox,
  ReadFile,
  RunHooks,
  WorkspaceEntry,
} from '../executor.js';
import { isSandboxLost, sandboxLost } from '../sandbox-failure.js';
import { Serial } from '../serial.js';
import { untilAbort } from '../../async/until-abort.js';
import { RUNNER, WORKSPACE } from './container-spec.js';
import type { DockerEngine } from './docker-engine.js';
import { execCommand, type ExecOutcome } from './exec-command.js';
import { runHelper, type OperationPlace } from './exec-helper.js';
import { reap } from './reap.js';
import { putEntries } from './put-entries.js';
import { layoutScript } from './workspace-layout.js';
import { listFiles, readFiles } from './workspace-files.js';

const LAYOUT_MS = 30_000;

/** Who has to do with a container besides its sandbox. */
export interface SandboxTies {
  readonly log: ExecutorLog;
  /** Ends all that its owner waits for, but commands: they have signals of their own. */
  readonly signal: AbortSignal;
  /** Called when it was closed, whether its container could be removed or not. */
  readonly onClosed: () => void;
}

/** One live container. All its operations run one after another, since the end of a command kills every process of the
 *  commands' user, ours included. Modes: open → lost (any failure of the engine; the container is removed) → closed. */
export class DockerSandbox implements OpenSandbox {
  readonly workspaceDir = WORKSPACE;
  readonly #engine: DockerEngine;
  readonly #container: string;
  readonly #ties: SandboxTies;
  readonly #serial = new Serial();
  #oomKills = 0;
  #gone: SkillmillError | undefined;
  #removal: Promise<void> | undefined;

  constructor(engine: DockerEngine, container: string, ties: SandboxTies) {
    this.#engine = engine;
    this.#container = container;
    this.#ties = ties;
  }

  /** Makes the workspace's folders; before it nothing else may be called. */
  async layOut(): Promise<void> {
    const { signal } = this.#ties;
    const helper = { script: layoutScript, user: RUNNER, timeoutMs: LAYOUT_MS, signal };
    const result = await runHelper(this.#engine, this.#container, helper);
    if (result.exitCode === 0) return;
    const told = result.stderr || result.stdout.toString('utf8');
    throw new SkillmillError(
      'SANDBOX_UNAVAILABLE',
      `The sandbox’s workspace cannot be made: ${told.trim()}. The image needs bash, coreutils, findutils and tar, and users 1000 and 1001 (docker/runner/Dockerfile shows one).`,
    );
  }

  async put(entries: readonly WorkspaceEntry[], owner: EntryOwner): Promise<void> {
    for (const entry of entries) checkEntry(entry, owner);
    if (entries.length === 0) return;
    await this.#untilAbort((place) => putEntries(place, entries, owner));
  }

  async run(command: Command, hooks: RunHooks): Promise<CommandResult> {
    checkCommand(command);
    return await this.#alone(async () => {
      hooks.signal.throwIfAborted();
      const outcome = await this.#exec(command, hooks);
      let outOfMemory = false;
      if (outcome.lost) this.#lose(sandboxLost('a command in it could not be ended'));
      else outOfMemory = await this.#reap(!outcome.result.timedOut && !outcome.aborted);
      if (outcome.aborted) hooks.signal.throwIfAborted();
      return { ...outcome.result, outOfMemory };
    });
  }

  async list(folders: readonly string[], limit: number): Promise<FileListing> {
    return await this.#untilAbort(async (place) => {
      const listing = await listFiles(place, folders, limit);
      if (listing.truncated) await this.#reap(true); // a find that nobody reads any more
      return listing;
    });
  }

  async *read(paths: readonly string[]): AsyncGenerator<ReadFile> {
    const { signal } = this.#ties;
    const leave = await this.#serial.enter(signal);
    let whole = false;
    try {
      this.#mustLive();
      yield* readFiles(this.#place(), paths);
      whole = true;
    } catch (thrown) {
      this.#noteLoss(thrown);
      signal.throwIfAborted();
      throw this.#gone ?? thrown;
    } finally {
      // A reader that stopped early leaves a tar that waits to be read; after an abort nobody waits for its end.
      const waits = !whole && this.#gone === undefined && !signal.aborted;
      if (waits) await this.#reap(false).catch(() => undefined);
      leave();
    }
  }

  async close(): Promise<void> {
    this.#gone ??= sandboxLost('it was closed');
    try {
      await this.#remove();
    } finally {
      this.#ties.onClosed();
    }
  }

  async #exec(command: Command, hooks: RunHooks): Promise<ExecOutcome> {
    try {
      return await execCommand(this.#engine, this.#container, command, hooks);
    } catch (thrown) {
      // Not the engine's failure but, say, that of a listener: the command must not go on for all that.
      if (!isSandboxLost(thrown)) await this.#reap(false);
      throw thrown;
    }
  }

  /** Ends what a command left; returns whether the memory limit killed something since the last time. After a timeout or an
   *  abort a failure only loses the sandbox: the caller has his answer. */
  async #reap(mustSucceed: boolean): Promise<boolean> {
    try {
      const kills = await reap(this.#engine, this.#container);
      const more = kills > this.#oomKills;
      this.#oomKills = kills;
      return more;
    } catch (thrown) {
      if (mustSucceed) throw thrown;
      this.#noteLoss(thrown);
      return false;
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
    return { engine: this.#engine, container: this.#container, signal: this.#ties.signal };
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
    this.#ties.log('warn', why.message, { container: this.#container });
    // In the background: what is lost may not answer, and the caller closes the sandbox anyway.
    this.#remove().catch(() => undefined);
  }

  #remove(): Promise<void> {
    this.#removal ??= this.#engine.removeContainer(this.#container).catch((thrown: unknown) => {
      this.#removal = undefined; // the next close tries again
      throw thrown;
    });
    return this.#removal;
  }
}
