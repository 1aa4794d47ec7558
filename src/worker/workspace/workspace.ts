import type { Skill } from '../../shared/skills/skill.js';
import type { Command, CommandResult } from '../executor/command.js';
import type { OpenSandbox, RunHooks, Sandbox } from '../executor/executor.js';
import { isSandboxLost } from '../executor/sandbox-failure.js';
import type { WorkspaceVersion } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { untilAbort } from '../async/until-abort.js';
import { metadataEntry } from './metadata.js';
import { environmentOf, stepsLost } from './workspace-environment.js';
import type { PreparedRun, WorkspaceOptions } from './workspace-options.js';
import { workspaceFolders } from './workspace-path.js';

/**
 * A turn's files. A sandbox starts only with the first command, with the session's files in it, and is made again when it is
 * lost, from the last checkpoint:
 *
 *   closed ──prepare()──▶ open ──lost──▶ closed (the next command says so) … ──close()──▶ gone
 *
 * A checkpoint runs beside the next model call; a command waits for it. One that fails is made again later.
 */
export class Workspace {
  private readonly options: WorkspaceOptions;
  private sandbox: OpenSandbox | undefined;
  private staged = new Map<string, string>();
  /** Was a sandbox lost, and no command has told of it yet? */
  wasLost = false;
  /** Has a command begun since the last checkpoint? */
  private isDirty = false;
  /** Has one been answered since? */
  private hasUnsavedSteps = false;
  /** Has the last one not come to its end? */
  private isCut = false;
  private checkpointing: Promise<void> | undefined;
  /** Why the last checkpoint failed. */
  private fault: SkillmillError | undefined;
  private toTell: string[] = [];
  /** How many commands were prepared: what each leaves needs a checkpoint. */
  commands = 0;
  /** Fingerprints of files as the command before left them, to tell what a command changed. */
  private readonly known = new Map<string, string>();

  constructor(options: WorkspaceOptions) {
    this.options = options;
  }

  /** Opens the sandbox if need be and stages the skill. @throws SkillmillError SANDBOX_UNAVAILABLE, BLOB_UNAVAILABLE */
  async prepare(skill: Skill): Promise<PreparedRun> {
    const { signal } = this.options;
    if (this.checkpointing !== undefined) await untilAbort(this.checkpointing, signal);
    try {
      return await this.prepareOnce(skill);
    } catch (error) {
      if (!isSandboxLost(error)) throw error;
      // Lost between two commands (the engine restarted, say): a fresh one is as good where nothing was lost with it.
      await this.giveUpIfLost(error);
      signal.throwIfAborted();
      return this.prepareOnce(skill);
    }
  }

  /** Runs a prepared command; a sandbox that is lost meanwhile is given up. */
  async run(prepared: PreparedRun, command: Command, hooks: RunHooks): Promise<CommandResult> {
    try {
      const result = await prepared.sandbox.run(command, hooks);
      this.isCut = false;
      return result;
    } catch (error) {
      await this.giveUpIfLost(error);
      throw error;
    }
  }

  /** Begins to make what the finished commands have left durable, if there is anything; never throws. */
  checkpoint(): void {
    const { sandbox } = this;
    if (sandbox === undefined || !this.isDirty || this.checkpointing !== undefined) return;
    this.hasUnsavedSteps = true;
    this.checkpointing = this.save(sandbox)
      .catch(async (error: unknown) => {
        this.fault = SkillmillError.from(error);
        await this.giveUpIfLost(error);
      })
      .finally(() => (this.checkpointing = undefined));
  }

  /** Has a command run since the last checkpoint, and what it left is not lost? */
  get isUnsaved(): boolean {
    return this.isDirty;
  }

  /** Waits until no checkpoint is being made. */
  checkpointed = async (): Promise<void> => this.checkpointing;

  /** Makes all that the turn leaves durable. @throws the signal's reason; SkillmillError LIMIT_EXCEEDED, BLOB_UNAVAILABLE,
   *  SANDBOX_UNAVAILABLE: the last checkpoint stays the version to commit then */
  async finish(): Promise<void> {
    await this.checkpointing;
    this.hasUnsavedSteps ||= this.isDirty;
    try {
      if (this.sandbox !== undefined && this.isDirty) await this.save(this.sandbox);
      // The sandbox that held them is lost, and no command has told the model.
      else if (this.fault !== undefined) throw this.fault;
    } finally {
      await this.options.files.keepInputs();
    }
  }

  /** After an early end: makes durable what finished commands have left. One that was cut short leaves nothing, unless others' files
   *  were not saved before it. @throws as `finish` */
  async keepFinished(): Promise<void> {
    await this.checkpointing;
    if (this.isCut && !this.hasUnsavedSteps) this.isDirty = false;
    await this.finish();
  }

  /** The session's next version, as of the last checkpoint; undefined when nothing has changed. */
  get version(): WorkspaceVersion | undefined {
    return this.options.files.version;
  }

  /** Is the file new, or other than the command before left it? Asking marks it as seen. */
  isChanged(path: string, fingerprint: string): boolean {
    const changed = this.known.get(path) !== fingerprint;
    this.known.set(path, fingerprint);
    return changed;
  }

  /** Gives up a sandbox that an error says is lost; true when it was. */
  async giveUpIfLost(error: unknown): Promise<boolean> {
    if (this.sandbox === undefined || !isSandboxLost(error)) return false;
    // Such commands are run again, by an attempt that goes on from the last checkpoint.
    if (this.hasUnsavedSteps && this.options.onStepsLost(stepsLost(error))) return true;
    this.wasLost = true;
    // What cannot be removed now, the executor's sweep removes later.
    await this.close().catch(() => undefined);
    this.options.onSaved?.(this.version);
    return true;
  }

  /** Removes the sandbox; idempotent. */
  async close(): Promise<void> {
    const sandbox = this.sandbox;
    this.sandbox = undefined;
    this.staged = new Map();
    this.known.clear();
    this.isDirty = false;
    this.isCut = false;
    this.hasUnsavedSteps = false;
    this.options.files.forget();
    await sandbox?.close();
  }

  private async save(sandbox: Sandbox): Promise<void> {
    this.isDirty = false;
    try {
      await this.options.files.save(sandbox);
      this.fault = undefined;
      this.hasUnsavedSteps = false;
      this.options.onSaved?.(this.version);
    } catch (error) {
      this.isDirty = true;
      throw error;
    }
  }

  private async prepareOnce(skill: Skill): Promise<PreparedRun> {
    const sandbox = this.sandbox ?? (await this.open());
    const warnings = this.warnings();
    if (this.staged.get(skill.name) !== skill.digest) await this.stage(sandbox, skill);
    this.wasLost = false;
    this.toTell = [];
    this.hasUnsavedSteps ||= this.isDirty;
    this.isDirty = true;
    this.isCut = true;
    this.commands += 1;
    const runDir = sandbox.nextRunDir();
    return {
      sandbox,
      runDir,
      skillDir: `${workspaceFolders.SKILLS_DIR}/${skill.name}`,
      env: {
        ...this.options.skills.envOf(skill),
        ...environmentOf(sandbox.workspaceDir, runDir, skill.name),
      },
      warnings,
    };
  }

  /** What the model should know before it reads a command's result. */
  private warnings(): string[] {
    const { fault } = this;
    const replaced = 'The sandbox was lost and has been replaced;';
    if (this.wasLost) {
      if (fault === undefined) {
        return [...this.toTell, `${replaced} files are as the last finished command left them.`];
      }
      this.fault = undefined; // told here
      return [...this.toTell, `${replaced} what the last commands wrote is gone.`];
    }
    return fault?.code === 'LIMIT_EXCEEDED' ? [...this.toTell, fault.message] : this.toTell;
  }

  private async open(): Promise<OpenSandbox> {
    const { executor, job, signal, keeping, files } = this.options;
    const leftOut = this.wasLost ? [] : await files.leftOut();
    const sandbox = await executor.open(job, keeping, signal);
    try {
      const { WORK_DIR, OUTPUT_DIR, RUNS_DIR } = workspaceFolders;
      const restored = files.restore(sandbox, [WORK_DIR, OUTPUT_DIR, RUNS_DIR]);
      for (const seen of await untilAbort(restored, signal)) {
        this.known.set(seen.path, seen.fingerprint);
      }
    } catch (error) {
      files.forget();
      await sandbox.close().catch(() => undefined);
      throw error;
    }
    this.toTell = leftOut.map(
      ({ path, reason }) => `${JSON.stringify(path)} of an earlier turn was not kept: ${reason}`,
    );
    this.sandbox = sandbox;
    return sandbox;
  }

  private async stage(sandbox: Sandbox, skill: Skill): Promise<void> {
    const { skills, packs, inputs, files, signal } = this.options;
    const pack = await packs.get(skill, () => skills.readFiles(skill));
    const staged = new Map(this.staged).set(skill.name, skill.digest);
    await untilAbort(sandbox.put([pack, metadataEntry(staged, inputs)], 'keeper'), signal);
    if (!this.staged.has(skill.name)) {
      const folder = `${workspaceFolders.SKILLS_DIR}/${skill.name}/.venv`;
      await untilAbort(files.restore(sandbox, [folder]), signal);
    }
    this.staged = staged;
  }
}
