import { expect, it } from 'vitest';
import { cli } from '../support/cli.js';

// The built command line is asked: run `npm run build` before. The commands of schedules; help.test.ts has the others.
const pinned: Record<string, string> = {
  schedule: `Usage: skillmill schedule [options] [command]

have turns repeated by cron

Options:
  -h, --help                             display help for command

Commands:
  add [options] <name> <cron> <message>  enqueue a turn at each time of a cron pattern; replaces the schedule of this name
  list [options]                         list the schedules with their next firing
  remove [options] <name>                end a schedule; turns that it has enqueued stay
  help [command]                         display help for command
`,
  'schedule add': `Usage: skillmill schedule add [options] <name> <cron> <message>

enqueue a turn at each time of a cron pattern; replaces the schedule of this
name

Arguments:
  name                   name of the schedule
  cron                   five fields, or six with the second first; quote it
  message                the user message; - reads it from standard input

Options:
  --session <id>         session to continue (default: a new one)
  --skill <name>         load this skill first; may be repeated
  --file <src[:dest]>    put a file, a URL or an artifact:// into work/inputs/;
                         may be repeated
  --model <name>         model for this turn
  --instructions <text>  system instructions for this turn
  --timeout <seconds>    fail the turn after this time
  --on-busy <what>       what to do when the session has a turn that waits or
                         runs (default: queue) (choices: "queue", "reject",
                         "interrupt", "steer")
  --priority <priority>  which sessions go first (default: normal) (choices:
                         "high", "normal", "low")
  --time-zone <zone>     where the cron’s hours are told (default: UTC)
  --json                 print { name, cron, timeZone, nextAt, turn, isReplaced
                         } as JSON
  -h, --help             display help for command
`,
  'schedule list': `Usage: skillmill schedule list [options]

list the schedules with their next firing

Options:
  --json      print [{ name, cron, timeZone, nextAt, turn }] as JSON
  -h, --help  display help for command
`,
  'schedule remove': `Usage: skillmill schedule remove [options] <name>

end a schedule; turns that it has enqueued stay

Arguments:
  name        name of the schedule

Options:
  --json      print { name, outcome } as JSON
  -h, --help  display help for command
`,
};

it.each(Object.entries(pinned))('skillmill %s --help', async (command, text) => {
  const outcome = await cli([...command.split(' '), '--help'], {});
  expect(outcome).toEqual({ code: 0, stdout: text, stderr: '' });
});
