import type { Command } from 'commander';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { ScheduleView } from '../../schedules.js';
import type { CommandContext } from '../command-context.js';
import { openClient } from '../open-client.js';
import { printableLine } from '../printable.js';
import { turnFromArguments, withRepeatedTurn, type TurnOptions } from '../turn-arguments.js';

interface AddOptions extends TurnOptions {
  readonly timeZone?: string;
  readonly json?: boolean;
}

/** `skillmill schedule`: turns that repeat by cron. */
export function addScheduleCommand(program: Command, context: CommandContext): void {
  const schedule = program.command('schedule').description('have turns repeated by cron');
  addAddCommand(schedule, context);
  schedule
    .command('list')
    .description('list the schedules with their next firing')
    .option('--json', 'print [{ name, cron, timeZone, nextAt, turn }] as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      await using client = await openClient();
      const all = await client.schedules.list();
      context.stdout(json === true ? `${JSON.stringify(all, null, 2)}\n` : linesOf(all));
    });
  schedule
    .command('remove')
    .description('end a schedule; turns that it has enqueued stay')
    .argument('<name>', 'name of the schedule')
    .option('--json', 'print { name, outcome } as JSON')
    .action(async (name: string, { json }: { json?: boolean }) => {
      await using client = await openClient();
      if (!(await client.schedules.remove(name))) throw unknown(name);
      if (json === true) context.stdout(`${JSON.stringify({ name, outcome: 'removed' })}\n`);
      else context.stderr(`removed ${name}`);
    });
}

function addAddCommand(schedule: Command, context: CommandContext): void {
  const add = schedule
    .command('add')
    .description(
      'enqueue a turn at each time of a cron pattern; replaces the schedule of this name',
    )
    .argument('<name>', 'name of the schedule')
    .argument('<cron>', 'five fields, or six with the second first; quote it');
  withRepeatedTurn(add)
    .option('--time-zone <zone>', 'where the cron’s hours are told (default: UTC)')
    .option('--json', 'print { name, cron, timeZone, nextAt, turn, isReplaced } as JSON')
    .action(async (name: string, cron: string, message: string, options: AddOptions) => {
      const turn = await turnFromArguments(message, options);
      const zone = options.timeZone === undefined ? {} : { timeZone: options.timeZone };
      await using client = await openClient();
      const added = await client.schedules.add({ name, cron, ...zone, turn });
      const said = added.isReplaced ? 'replaced' : 'added';
      if (options.json === true) context.stdout(`${JSON.stringify(added)}\n`);
      else context.stderr(`${said} ${name}: it fires next at ${added.nextAt}`);
    });
}

function linesOf(schedules: readonly ScheduleView[]): string {
  return schedules
    .map(({ name, cron, timeZone, nextAt, turn }) => {
      const said = typeof turn.input === 'string' ? turn.input : JSON.stringify(turn.input);
      const shown = said.length > 100 ? `${said.slice(0, 100)}…` : said;
      return `${printableLine([nextAt, name, `${cron} ${timeZone}`, shown].join('  '))}\n`;
    })
    .join('');
}

function unknown(name: string): SkillmillError {
  return new SkillmillError(
    'INPUT_INVALID',
    `This tenant has no schedule ${name}; \`skillmill schedule list\` shows those that it has.`,
  );
}
