import type { Command } from 'commander';
import { openClient } from '../open-client.js';
import { prepareFolder } from '../write-artifacts.js';
import type { CommandContext, Exit } from '../command-context.js';
import { deliverResult, followToEnd, type OutputOptions } from '../follow-to-end.js';

/** `skillmill watch`: the same view as `run`, of a turn that is there already. Ctrl-C only stops watching. */
export function addWatchCommand(program: Command, context: CommandContext, exit: Exit): void {
  program
    .command('watch')
    .description('follow a turn from its first step to its result')
    .argument('<turn>', 'turn id')
    .option('--json', 'print the result as one JSON document at the end')
    .option('--out <dir>', 'write the files that the turn made below this folder')
    .action(async (turnId: string, options: OutputOptions) => {
      await prepareFolder(options.out);
      await using client = await openClient();
      const result = await followToEnd(client, context, turnId);
      exit(await deliverResult(client, context, result, options));
    });
}
