import { z } from 'zod';
import { environmentNameRule } from '../../shared/config/environment-name.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { Skill } from '../../shared/skills/skill.js';
import { isSandboxLost } from '../executor/sandbox-failure.js';
import type { CapturedOutput, Command, CommandResult } from '../executor/command.js';
import {
  collectOutputs,
  collectionFailed,
  type Collection,
} from '../workspace/output-collector.js';
import { resolveWorkingFolder, workspaceFolders } from '../workspace/workspace-path.js';
import type { PreparedRun } from '../workspace/workspace.js';
import { requireSkill } from './require-skill.js';
import { skillRunResult } from './skill-run-result.js';
import { defineSkillTool, type ToolContext, type ToolOutcome } from './tool.js';

/** tRPC-Agent's limits: stdout and stderr 16 KiB each, 300 s a command. */
const outputLimitBytes = 16 * 1024;
const defaultTimeoutSeconds = 300;
const maxTimeoutSeconds = 86_400;

const noNul = (text: string) => !text.includes('\0');

const parameters = z.object({
  skill: z.string().trim().min(1).max(255).describe('Name of the skill'),
  command: z
    .string()
    .min(1)
    .refine(noNul, 'must not hold a NUL character')
    .describe('Command for bash -c, run in the skill’s folder'),
  cwd: z
    .string()
    .optional()
    .describe('Working folder: relative to the skill’s, or below $WORK_DIR, $OUTPUT_DIR, $RUN_DIR'),
  env: z
    .record(
      z.string().regex(environmentNameRule, 'must be a variable name'),
      z.string().refine(noNul),
    )
    .optional()
    .describe('Environment variables'),
  stdin: z.string().optional().describe('Text for standard input'),
  output_files: z
    .array(z.string().min(1).max(512))
    .max(100)
    .optional()
    .describe(
      'Globs of files to return, such as out/*.csv; default: what the command changed in out/',
    ),
  timeout: z
    .number()
    .min(0)
    .max(maxTimeoutSeconds)
    .optional()
    .describe(`Seconds; 0 or absent: ${defaultTimeoutSeconds}`),
  save_as_artifacts: z
    .boolean()
    .optional()
    .describe('Keep the returned files as artifacts; those in out/ always are'),
  omit_inline_content: z.boolean().optional().describe('Return files without their text'),
});
type Arguments = z.output<typeof parameters>;

/** `skill_run`: runs a command in a skill's folder, in the turn's sandbox. */
export const skillRunTool = defineSkillTool({
  name: 'skill_run',
  description:
    'Run a command in a skill’s folder. The user’s files are in $WORK_DIR/inputs; write results to $OUTPUT_DIR. Returns stdout, stderr, exit code and the files that the command changed in out/.',
  guidance:
    "Run a skill's scripts with skill_run; commands run by bash -c in the skill's folder. The user's files are in $WORK_DIR/inputs, work in progress belongs in $WORK_DIR, and results that the user is to get belong in $OUTPUT_DIR. When a command fails, read its stderr and exit code before you try again, and say only what commands really printed or wrote.",
  parameters,
  async execute(args, context): Promise<ToolOutcome> {
    const skill = requireSkill(context.skills, args.skill);
    context.onSkillUsed(skill.name, 'run');
    const { prepared, command } = await prepare(args, skill, context);
    const result = await runCommand(prepared, command, context);
    const collection = await collect(args, { prepared, result }, context);
    return toOutcome(args, { prepared, command, result, collection }, context);
  },
});

async function prepare(
  args: Arguments,
  skill: Skill,
  context: ToolContext,
): Promise<{ prepared: PreparedRun; command: Command }> {
  const prepared = await context.workspace.prepare(skill);
  const { skillDir, runDir, sandbox } = prepared;
  const seconds =
    args.timeout === undefined || args.timeout === 0 ? defaultTimeoutSeconds : args.timeout;
  const command = {
    line: args.command,
    cwd: resolveWorkingFolder({
      cwd: args.cwd ?? '',
      skillDir,
      runDir,
      workspaceDir: sandbox.workspaceDir,
    }),
    makeDir: runDir,
    env: { ...prepared.env, ...args.env },
    stdin: args.stdin ?? '',
    timeoutMs: Math.max(1, Math.round(seconds * 1000)),
    outputLimitBytes,
  };
  return { prepared, command };
}

async function runCommand(
  prepared: PreparedRun,
  command: Command,
  context: ToolContext,
): Promise<CommandResult> {
  try {
    const { signal, onOutput } = context;
    return await context.workspace.run(prepared, command, { signal, onOutput });
  } catch (error) {
    context.signal.throwIfAborted();
    // The sandbox died under the command: the model may go on in a fresh one.
    if (isSandboxLost(error)) {
      throw new SkillmillError(
        'TOOL_FAILED',
        `The sandbox was lost while the command ran (${errorMessage(error)}). The next command gets a new one; files written before are gone.`,
      );
    }
    throw error;
  }
}

async function collect(
  args: Arguments,
  { prepared, result }: { readonly prepared: PreparedRun; readonly result: CommandResult },
  context: ToolContext,
): Promise<Collection> {
  const keepAll = args.save_as_artifacts === true;
  try {
    return await collectOutputs(prepared.sandbox, context.blobs, {
      globs: args.output_files ?? [],
      runDir: prepared.runDir,
      leftNothing: result.leftNothing,
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
  args: Arguments,
  run: { prepared: PreparedRun; command: Command; result: CommandResult; collection: Collection },
  context: ToolContext,
): ToolOutcome {
  const { command, result, collection, prepared } = run;
  const artifacts = collection.files.flatMap(({ name, blob, mimeType }) =>
    blob === undefined ? [] : [context.artifacts.save(name, blob, mimeType)],
  );
  const warnings = [
    ...prepared.warnings,
    ...outputWarnings('stdout', result.stdout),
    ...outputWarnings('stderr', result.stderr),
    ...(result.timedOut ? [`killed: it ran past its ${command.timeoutMs / 1000} s`] : []),
    ...(result.outOfMemory ? ['out of memory: the sandbox’s memory limit ended a process'] : []),
    ...collection.warnings,
  ];
  const outcome = {
    result: skillRunResult({
      result,
      files: collection.files,
      artifacts,
      warnings,
      omitContent: args.omit_inline_content === true,
    }),
    exitCode: result.exitCode,
  };
  if (!result.timedOut) return outcome;
  const message = `The command ran past its ${command.timeoutMs / 1000} s and was killed with all that it started.`;
  return { ...outcome, error: new SkillmillError('COMMAND_TIMEOUT', message) };
}

function outputWarnings(name: string, output: CapturedOutput): string[] {
  return output.droppedBytes === 0
    ? []
    : [
        `${name} truncated: ${output.droppedBytes} of ${output.totalBytes} bytes left out of its middle`,
      ];
}
