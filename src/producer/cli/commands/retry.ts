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

/** `skillmill retry`: tries an ended turn again, and follows it. Ctrl-C cancels it. */
export function addRetryCommand(program: Command, context: CommandContext, exit: Exit): void {
  program
    .command('retry')
    .description('run a failed or cancelled turn again, from where it was, and follow it')
    .argument('<turn>', 'turn id')
    .option('--detach', 'print the new turn’s id and do not follow it')
    .option(
      '--json',
      'print the whole result (with --detach { turnId, sessionId, position }) as JSON',
    )
    .option('--out <dir>', 'write the files that the turn made below this folder')
    .action(async (turnId: string, options: OutputOptions & { detach?: boolean }) => {
      await prepareFolder(options.out);
      await using client = await openClient();
      const turn = await client.retry(turnId);
      if (options.detach === true) {
        context.stdout(options.json === true ? `${JSON.stringify(turn)}\n` : `${turn.turnId}\n`);
        return;
      }
      const result = await cancellingOnInterrupt(client, context, turn.turnId, (signal) =>
        followToEnd(client, context, turn.turnId, signal),
      );
      exit(await deliverResult(client, context, result, options));
    });
}
