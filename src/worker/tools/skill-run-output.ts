import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { CapturedOutput, Command, CommandResult, OutputStream } from '../executor/command.js';
import { isSandboxLost } from '../executor/sandbox-failure.js';
import { OutputSpill } from '../workspace/output-spill.js';
import type { PreparedRun } from '../workspace/workspace-options.js';
import type { ToolContext } from './tool.js';

/** A command's end, and what there is to say of its output. */
export interface RanCommand {
  readonly result: CommandResult;
  readonly warnings: readonly string[];
}

/** Runs a prepared command. Of output that is too long for the model the whole goes into the run's folder.
 *  @throws the signal's reason; SkillmillError TOOL_FAILED when the sandbox was lost meanwhile */
export async function runWithOutput(
  prepared: PreparedRun,
  command: Command,
  context: ToolContext,
): Promise<RanCommand> {
  const spills = { stdout: new OutputSpill(), stderr: new OutputSpill() };
  try {
    const result = await runCommand(prepared, command, {
      ...context,
      onOutput: (stream, text) => {
        spills[stream].add(text);
        context.onOutput(stream, text);
      },
    });
    const warnings = [
      ...(await keepWhole('stdout', result.stdout, { spill: spills.stdout, prepared, context })),
      ...(await keepWhole('stderr', result.stderr, { spill: spills.stderr, prepared, context })),
    ];
    return { result, warnings };
  } finally {
    spills.stdout.close();
    spills.stderr.close();
  }
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
        `The sandbox was lost while the command ran (${errorMessage(error)}). The next command gets a new one, with the files as the last finished command left them; run this one again if it is still needed.`,
      );
    }
    throw error;
  }
}

interface Keeping {
  readonly spill: OutputSpill;
  readonly prepared: PreparedRun;
  readonly context: ToolContext;
}

/** Writes output that the model gets shortened to a file that its next command may read. A file that cannot be written costs the file. */
async function keepWhole(
  stream: OutputStream,
  output: CapturedOutput,
  { spill, prepared, context }: Keeping,
): Promise<string[]> {
  if (output.droppedBytes === 0) return [];
  const said = `${stream} truncated: ${output.droppedBytes} of ${output.totalBytes} bytes left out of its middle`;
  const path = `${prepared.runDir}/${stream}.txt`;
  try {
    const content = await spill.content();
    await prepared.sandbox.put([{ path, kind: 'file', mode: 0o644, content }], 'command');
    const how = spill.isCut ? `the first ${content.byteLength} bytes are` : 'the whole is';
    return [`${said}; ${how} in $WORKSPACE_DIR/${path}`];
  } catch (error) {
    context.signal.throwIfAborted();
    return [`${said}; it could not be kept (${errorMessage(error)})`];
  }
}
