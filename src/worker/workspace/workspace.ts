import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { Skill } from '../../shared/skills/skill.js';
import type { Command, CommandResult } from '../executor/command.js';
import type { Executor, OpenSandbox, RunHooks, Sandbox, SandboxJob } from '../executor/executor.js';
import { isSandboxLost } from '../executor/sandbox-failure.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import type { StoredFile } from '../../shared/results/stored-request.js';
import { inputEntries } from './input-stager.js';
import { metadataEntry } from './metadata.js';
import type { SkillPacks } from './skill-packs.js';
import { workspaceFolders } from './workspace-path.js';

export interface WorkspaceOptions {
  readonly executor: Executor;
  readonly job: SandboxJob;
  readonly inputs: readonly StoredFile[];
  readonly blobs: BlobStore;
  readonly skills: TurnSkills;
  readonly packs: SkillPacks;
  readonly signal: AbortSignal;
}

/** A place that is ready for one command of a skill. */
export interface PreparedRun {
  readonly sandbox: Sandbox;
  /** Fresh for this command, relative to the workspace; the command makes it. */
  readonly runDir: string;
  readonly skillDir: string;
  /** WORKSPACE_DIR and its kin, and what the operator sets for the skill. */
  readonly env: Readonly<Record<string, string>>;
  /** What the model should know, e.g. that the sandbox is a new one. */
  readonly warnings: readonly string[];
}

/**
 * A turn's files. A sandbox starts only with the first command, and is made again when it is lost:
 *
 *   closed ──prepare()──▶ open ──lost──▶ closed (the next command says so) … ──close()──▶ gone
 */
export class Workspace {
  private readonly options: WorkspaceOptions;
  private sandbox: OpenSandbox | undefined;
  private staged = new Map<string, string>();
  private wasLost = false;
  /** Fingerprints of files as the command before left them, to tell what a command changed. */
  private readonly known = new Map<string, string>();

  constructor(options: WorkspaceOptions) {
    this.options = options;
  }

  /** Opens the sandbox if need be and stages the skill. @throws SkillmillError SANDBOX_UNAVAILABLE, BLOB_UNAVAILABLE */
  async prepare(skill: Skill): Promise<PreparedRun> {
    try {
      return await this.prepareOnce(skill);
    } catch (error) {
      // Lost between two commands (the engine restarted, say): a fresh one is as good, and the model is told.
      if (!(await this.giveUpIfLost(error))) throw error;
      return this.prepareOnce(skill);
    }
  }

  /** Runs a prepared command; a sandbox that is lost meanwhile is given up. */
  async run(prepared: PreparedRun, command: Command, hooks: RunHooks): Promise<CommandResult> {
    try {
      return await prepared.sandbox.run(command, hooks);
    } catch (error) {
      await this.giveUpIfLost(error);
      throw error;
    }
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
    this.wasLost = true;
    // What cannot be removed now, the executor's sweep removes later.
    await this.close().catch(() => undefined);
    return true;
  }

  /** Removes the sandbox, if there is one; idempotent. */
  async close(): Promise<void> {
    const sandbox = this.sandbox;
    this.sandbox = undefined;
    this.staged = new Map();
    this.known.clear();
    await sandbox?.close();
  }

  private async prepareOnce(skill: Skill): Promise<PreparedRun> {
    const sandbox = this.sandbox ?? (await this.open());
    const warnings = this.wasLost
      ? ['The sandbox was lost and has been replaced; what earlier commands wrote is gone.']
      : [];
    if (this.staged.get(skill.name) !== skill.digest) await this.stage(sandbox, skill);
    this.wasLost = false;
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

  private async open(): Promise<OpenSandbox> {
    const { executor, job, signal, inputs, blobs } = this.options;
    const entries = await inputEntries(inputs, blobs);
    const sandbox = await executor.open(job, signal);
    try {
      if (entries.length > 0) await sandbox.put(entries, 'command');
    } catch (error) {
      await sandbox.close().catch(() => undefined);
      throw error;
    }
    this.sandbox = sandbox;
    return sandbox;
  }

  private async stage(sandbox: Sandbox, skill: Skill): Promise<void> {
    const { skills, packs, inputs } = this.options;
    const pack = await packs.get(skill, () => skills.readFiles(skill));
    const staged = new Map(this.staged).set(skill.name, skill.digest);
    await sandbox.put([pack, metadataEntry(staged, inputs)], 'keeper');
    this.staged = staged;
  }
}

function environmentOf(root: string, runDir: string, skill: string): Record<string, string> {
  return {
    WORKSPACE_DIR: root,
    SKILLS_DIR: `${root}/${workspaceFolders.SKILLS_DIR}`,
    WORK_DIR: `${root}/${workspaceFolders.WORK_DIR}`,
    OUTPUT_DIR: `${root}/${workspaceFolders.OUTPUT_DIR}`,
    RUN_DIR: `${root}/${runDir}`,
    SKILL_NAME: skill,
  };
}
