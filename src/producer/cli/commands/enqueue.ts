import type { Command } from 'commander';
import { openClient } from '../open-client.js';
import type { CommandContext } from '../command-context.js';
import { turnFromArguments, withTurnArguments, type TurnOptions } from '../turn-arguments.js';

/** `skillmill enqueue`: one turn, and its id. */
export function addEnqueueCommand(program: Command, context: CommandContext): void {
  withTurnArguments(program.command('enqueue'))
    .description('enqueue one turn and print its id')
    .option('--json', 'print { turnId, sessionId, position } as JSON')
    .action(async (message: string, options: TurnOptions & { json?: boolean }) => {
      await using client = await openClient();
      const turn = await client.enqueue(await turnFromArguments(message, options));
      context.stdout(options.json === true ? `${JSON.stringify(turn)}\n` : `${turn.turnId}\n`);
    });
}
