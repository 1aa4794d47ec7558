import type { WorkspaceVersion } from '../../shared/contracts/index.js';
import type { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { StoredFile } from '../../shared/results/stored-request.js';
import type { Executor, Sandbox, SandboxJob } from '../executor/executor.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import type { SkillPacks } from './skill-packs.js';
import type { SessionFiles } from './snapshot/session-files.js';

/** Whose workspace it is, what goes into it, and what makes its sandbox. */
export interface WorkspaceOptions {
  readonly executor: Executor;
  readonly job: SandboxJob;
  /** The turn's inputs, for `metadata.json`. */
  readonly inputs: readonly StoredFile[];
  readonly files: SessionFiles;
  readonly skills: TurnSkills;
  readonly packs: SkillPacks;
  /** Ends what the turn does. */
  readonly signal: AbortSignal;
  /** Ends also what makes finished commands' files durable; never aborts before the other. */
  readonly keeping: AbortSignal;
  /** Told of the version in force when nothing waits for a checkpoint any more; undefined as long as no file has changed. */
  readonly onSaved?: (version: WorkspaceVersion | undefined) => void;
  /** Told when files of answered commands are lost. True: the attempt ends by its signal; else the model is told. */
  readonly onStepsLost: (error: SkillmillError) => boolean;
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
