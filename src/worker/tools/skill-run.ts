import type { SkillRunConfig } from '../../shared/config/config.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Skill } from '../../shared/skills/skill.js';
import type { Command } from '../executor/command.js';
import { stageInputs, type StagedInput } from '../workspace/command-inputs.js';
import { editorFiles } from '../workspace/editor-files.js';
import {
  collectOutputs,
  collectionFailed,
  type Collection,
} from '../workspace/output-collector.js';
import { resolveWorkingFolder, workspaceFolders } from '../workspace/workspace-path.js';
import type { PreparedRun } from '../workspace/workspace-options.js';
import { requireSkill } from './require-skill.js';
import { artifactNameOf } from './skill-run-artifact-name.js';
import { runWithOutput, type RanCommand } from './skill-run-output.js';
import {
  defaultTimeoutSeconds,
  skillRunParameters,
  type SkillRunArguments,
} from './skill-run-parameters.js';
import { commandLine, isRestricted } from './skill-run-policy.js';
import { skillRunResult, type TextPlace } from './skill-run-result.js';
import { skillRunText } from './skill-run-text.js';
import { defineSkillTool, type Tool, type ToolContext, type ToolOutcome } from './tool.js';

/** As in tRPC-Agent: of stdout and stderr 16 KiB each. */
const outputLimitBytes = 16 * 1024;

/** A call on its way: each stage adds its own. */
interface Prepared {
  readonly args: SkillRunArguments;
  readonly prepared: PreparedRun;
  readonly command: Command;
  readonly inputs: readonly StagedInput[];
}

/** `skill_run`: runs a command in a skill's folder, in the turn's sandbox. */
export function createSkillRunTool(config: SkillRunConfig): Tool {
  return defineSkillTool({
    name: 'skill_run',
    ...skillRunText(config),
    parameters: skillRunParameters,
    async execute(args, context): Promise<ToolOutcome> {
      const skill = requireSkill(context.skills, args.skill);
      // What is not allowed starts no sandbox.
      const line = lineOf(args, skill, config);
      context.onSkillUsed(skill.name, 'run');
      const run = await prepare(args, { skill, line, config }, context);
      const ran = await runWithOutput(run.prepared, run.command, context);
      const collection = await collect(run, ran, context);
      return toOutcome(run, { ran, collection }, context);
    },
  });
}

function lineOf(args: SkillRunArguments, skill: Skill, config: SkillRunConfig): string {
  const { cwd = '', env = {}, editor_text: text = '' } = args;
  if (text !== '' && (env['EDITOR'] !== undefined || env['VISUAL'] !== undefined)) {
    throw new SkillmillError(
      'TOOL_INPUT_INVALID',
      'editor_text sets EDITOR and VISUAL, and env names one of them: leave either out.',
    );
  }
  const inSkillFolder = ['', '.', `$SKILLS_DIR/${skill.name}`].includes(cwd);
  return commandLine(config, { command: args.command, env, inSkillFolder });
}

async function prepare(
  args: SkillRunArguments,
  { skill, line, config }: { skill: Skill; line: string; config: SkillRunConfig },
  context: ToolContext,
): Promise<Prepared> {
  const prepared = await context.workspace.prepare(skill);
  const { skillDir, runDir, sandbox } = prepared;
  const place = { cwd: args.cwd ?? '', skillDir, runDir, workspaceDir: sandbox.workspaceDir };
  const cwd = resolveWorkingFolder(place);
  const { inputs, editor } = await stage(args, { skill, prepared, config }, context);
  const seconds =
    args.timeout === undefined || args.timeout === 0 ? defaultTimeoutSeconds : args.timeout;
  const command = {
    line,
    cwd,
    makeDir: runDir,
    // What commands may write must not stand before the programs that the operator allows.
    virtualEnvironment: isRestricted(config) ? undefined : `${skillDir}/.venv`,
    env: { ...prepared.env, ...editor, ...args.env },
    stdin: args.stdin ?? '',
    timeoutMs: Math.max(1, Math.round(seconds * 1000)),
    outputLimitBytes,
  };
  return { args, prepared, command, inputs };
}

/** Puts what a call asks for into the workspace; one that asks for nothing costs nothing. */
async function stage(
  args: SkillRunArguments,
  { skill, prepared, config }: { skill: Skill; prepared: PreparedRun; config: SkillRunConfig },
  context: ToolContext,
): Promise<{ inputs: readonly StagedInput[]; editor: Readonly<Record<string, string>> }> {
  const { sandbox, runDir } = prepared;
  const { blobs, artifacts, pins, skills } = context;
  try {
    const inputs = await stageInputs(sandbox, args.inputs ?? [], runDir, {
      ...{ blobs, artifacts, pins, stagedSkill: skill.name, hostFolders: config.hostInputs },
      skillFiles: (name) => skills.readFiles(requireSkill(skills, name)),
    });
    const { editor_text: text = '' } = args;
    if (text === '') return { inputs, editor: {} };
    const { entries, program } = editorFiles(runDir, text);
    await sandbox.put(entries, 'command');
    const path = `${sandbox.workspaceDir}/${program}`;
    return { inputs, editor: { EDITOR: path, VISUAL: path } };
  } catch (error) {
    await context.workspace.giveUpIfLost(error);
    throw error;
  }
}

async function collect(
  { args, prepared }: Prepared,
  ran: RanCommand,
  context: ToolContext,
): Promise<Collection> {
  const { outputs = {} } = args;
  const keepAll = args.save_as_artifacts === true || outputs.save === true;
  try {
    return await collectOutputs(prepared.sandbox, context.blobs, {
      globs: [...(args.output_files ?? []), ...(outputs.globs ?? [])],
      limits: {
        files: outputs.max_files,
        fileBytes: outputs.max_file_bytes,
        totalBytes: outputs.max_total_bytes,
      },
      runDir: prepared.runDir,
      leftNothing: ran.result.leftNothing,
      isChanged: (path, fingerprint) => context.workspace.isChanged(path, fingerprint),
      keep: (path) => keepAll || path.startsWith(`${workspaceFolders.OUTPUT_DIR}/`),
    });
  } catch (error) {
    context.signal.throwIfAborted();
    // The command ran: its own result is told even when the sandbox could not be read after it.
    if (await context.workspace.giveUpIfLost(error)) return collectionFailed(error);
    throw error;
  }
}

function toOutcome(
  { args, prepared, command, inputs }: Prepared,
  { ran, collection }: { ran: RanCommand; collection: Collection },
  context: ToolContext,
): ToolOutcome {
  const { result } = ran;
  const naming = { prefix: args.artifact_prefix, template: args.outputs?.name_template };
  const files = collection.files.map((file) => {
    if (file.blob === undefined) return { file, artifact: undefined };
    const name = artifactNameOf(file.name, naming);
    return { file, artifact: context.artifacts.save(name, file.blob, file.mimeType) };
  });
  const warnings = [
    ...prepared.warnings,
    ...ran.warnings,
    ...(result.timedOut ? [`killed: it ran past its ${command.timeoutMs / 1000} s`] : []),
    ...(result.outOfMemory ? ['out of memory: the sandbox’s memory limit ended a process'] : []),
    ...collection.warnings,
  ];
  const manifest = args.outputs === undefined ? undefined : { limitsHit: collection.limitsHit };
  const outcome = {
    result: skillRunResult({ result, files, warnings, inputs, text: textPlace(args), manifest }),
    exitCode: result.exitCode,
  };
  if (!result.timedOut) return outcome;
  const message = `The command ran past its ${command.timeoutMs / 1000} s and was killed with all that it started.`;
  return { ...outcome, error: new SkillmillError('COMMAND_TIMEOUT', message) };
}

/** Text is given once: where `inline` is named the manifest has it, or nobody. */
function textPlace({ omit_inline_content: omit, outputs }: SkillRunArguments): TextPlace {
  if (omit === true || outputs?.inline === false) return 'nowhere';
  return outputs?.inline === true ? 'manifest' : 'files';
}
