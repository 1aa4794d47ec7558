import type { Command } from 'commander';
import { openClient } from '../open-client.js';
import type { CommandContext } from '../command-context.js';

const said = {
  cancelled: 'cancelled: it had not started',
  requested: 'asked its worker to stop it',
  finished: 'nothing to cancel: it is finished',
} as const;

/** `skillmill cancel`: ends a turn, wherever it runs. */
export function addCancelCommand(program: Command, context: CommandContext): void {
  program
    .command('cancel')
    .description('cancel a turn that waits or runs')
    .argument('<turn>', 'turn id')
    .option('--json', 'print { turnId, outcome } as JSON')
    .action(async (turnId: string, options: { json?: boolean }) => {
      await using client = await openClient();
      const outcome = await client.cancel(turnId);
      if (options.json === true) context.stdout(`${JSON.stringify({ turnId, outcome })}\n`);
      else context.stderr(said[outcome]);
    });
}
