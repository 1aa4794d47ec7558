import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { processContext, type CommandContext, type Exit } from './command-context.js';
import { addArtifactsCommand } from './commands/artifacts.js';
import { addCancelCommand } from './commands/cancel.js';
import { addEnqueueCommand } from './commands/enqueue.js';
import { addGcCommand } from './commands/gc.js';
import { addResultCommand } from './commands/result.js';
import { addRetryCommand } from './commands/retry.js';
import { addRunCommand } from './commands/run.js';
import { addScheduleCommand } from './commands/schedule.js';
import { addSchemaCommand } from './commands/schema.js';
import { addSessionCommand } from './commands/session.js';
import { addSkillsCommand } from './commands/skills.js';
import { addUsageCommand } from './commands/usage.js';
import { addWatchCommand } from './commands/watch.js';
import { printableLine } from './printable.js';

/** A command that belongs to another side; the binary hands it in. */
export interface OutsideCommand {
  readonly name: string;
  readonly description: string;
  readonly run: () => Promise<number>;
}

/** Runs one command line and gives its exit code (DESIGN §3.5): 0 done, 1 failed, 2 usage, 3 unreachable, 130 cancelled. */
export async function runCli(
  argv: readonly string[],
  outside: readonly OutsideCommand[],
  context: CommandContext = processContext(),
): Promise<number> {
  let exitCode = 0;
  const exit: Exit = (code) => (exitCode = code);
  const program = buildProgram(context, exit);
  for (const command of outside) {
    program
      .command(command.name)
      .description(command.description)
      .action(async () => exit(await command.run()));
  }
  try {
    await program.parseAsync([...argv]);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return usageExit(context, error, argv);
    return complain(context, error, argv.includes('--json'));
  }
}

function buildProgram(context: CommandContext, exit: Exit): Command {
  const program = new Command('skillmill')
    .description(
      'Runs agent turns as jobs: any worker takes a turn, skills run in a container made for it.',
    )
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: context.stdout,
      writeErr: (text) => context.stderr(text.trimEnd()),
    })
    .showHelpAfterError('(skillmill --help shows what there is)');
  addRunCommand(program, context, exit);
  addEnqueueCommand(program, context);
  addWatchCommand(program, context, exit);
  addResultCommand(program, context, exit);
  addCancelCommand(program, context);
  addRetryCommand(program, context, exit);
  addScheduleCommand(program, context);
  addSessionCommand(program, context);
  addArtifactsCommand(program, context);
  addUsageCommand(program, context);
  addGcCommand(program, context);
  addSkillsCommand(program, context, exit);
  addSchemaCommand(program, context);
  return program;
}

/** commander has said what is wrong; with --json it is said on stdout as well. */
function usageExit(
  context: CommandContext,
  error: CommanderError,
  argv: readonly string[],
): number {
  if (error.exitCode === 0) return 0;
  if (argv.includes('--json')) {
    const fault = new SkillmillError('INPUT_INVALID', error.message);
    context.stdout(`${JSON.stringify({ error: fault.toPublic() }, null, 2)}\n`);
  }
  return 2;
}

/** One clear sentence, never a stack trace; with --json the same as the one document on stdout. */
function complain(context: CommandContext, thrown: unknown, json: boolean): number {
  const error = SkillmillError.from(thrown);
  if (json) context.stdout(`${JSON.stringify({ error: error.toPublic() }, null, 2)}\n`);
  context.stderr(printableLine(`skillmill: ${error.code}: ${error.message}`));
  return error.exitCode;
}

function packageVersion(): string {
  const file: unknown = createRequire(import.meta.url)('../../../package.json');
  return z.object({ version: z.string() }).parse(file).version;
}
