import type { Command } from 'commander';
import { openClient } from '../open-client.js';
import { prepareFolder } from '../write-artifacts.js';
import type { CommandContext, Exit } from '../command-context.js';
import { plainPrintable } from '../printable.js';
import { deliverResult, type OutputOptions } from '../follow-to-end.js';

/** `skillmill result`: what a turn ended in. */
export function addResultCommand(program: Command, context: CommandContext, exit: Exit): void {
  program
    .command('result')
    .description('fetch a turn’s result')
    .argument('<turn>', 'turn id')
    .option('--wait', 'wait for it if the turn is not finished')
    .option('--json', 'print the whole result as one JSON document')
    .option('--out <dir>', 'write the files that the turn made below this folder')
    .action(async (turnId: string, options: OutputOptions & { wait?: boolean }) => {
      await prepareFolder(options.out);
      await using client = await openClient();
      const result = await client.result(turnId, options.wait === true ? {} : { waitMs: 0 });
      if (result.error !== null && options.json !== true) {
        const { code, message } = result.error;
        context.stderr(plainPrintable(`${result.status}: ${code}: ${message}`));
      }
      exit(await deliverResult(client, context, result, options));
    });
}
