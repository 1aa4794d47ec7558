import type { Command } from 'commander';
import { openClient } from '../open-client.js';
import { prepareFolder } from '../write-artifacts.js';
import type { CommandContext, Exit } from '../command-context.js';
import {
  cancellingOnInterrupt,
  deliverResult,
  followToEnd,
  type OutputOptions,
} from '../follow-to-end.js';
import { turnFromArguments, withTurnArguments, type TurnOptions } from '../turn-arguments.js';

/** `skillmill run`: one turn, followed to its end. Ctrl-C cancels it. */
export function addRunCommand(program: Command, context: CommandContext, exit: Exit): void {
  withTurnArguments(program.command('run'))
    .description('enqueue one turn and follow it: steps on stderr, the answer on stdout')
    .option('--json', 'print the whole result as one JSON document')
    .option('--out <dir>', 'write the files that the turn made below this folder')
    .action(async (message: string, options: TurnOptions & OutputOptions) => {
      await prepareFolder(options.out);
      await using client = await openClient();
      const { turnId } = await client.enqueue(await turnFromArguments(message, options));
      const result = await cancellingOnInterrupt(client, context, turnId, (signal) =>
        followToEnd(client, context, turnId, signal),
      );
      exit(await deliverResult(client, context, result, options));
    });
}
