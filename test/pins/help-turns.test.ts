import { expect, it } from 'vitest';
import { cli } from '../support/cli.js';

// The built command line is asked: run `npm run build` before. The commands of one turn; help.test.ts has the others.
const pinned: Record<string, string> = {
  run: `Usage: skillmill run [options] <message>

enqueue one turn and follow it: steps on stderr, the answer on stdout

Arguments:
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
  --key <text>           idempotency key: the same key for the same session
                         gives its first turn
  --priority <priority>  which sessions go first (default: normal) (choices:
                         "high", "normal", "low")
  --delay <seconds>      take its place in the line after this time
  --json                 print the whole result as one JSON document
  --out <dir>            write the files that the turn made below this folder
  -h, --help             display help for command
`,
  enqueue: `Usage: skillmill enqueue [options] <message>

enqueue one turn and print its id

Arguments:
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
  --key <text>           idempotency key: the same key for the same session
                         gives its first turn
  --priority <priority>  which sessions go first (default: normal) (choices:
                         "high", "normal", "low")
  --delay <seconds>      take its place in the line after this time
  --json                 print { turnId, sessionId, position } as JSON
  -h, --help             display help for command
`,
  watch: `Usage: skillmill watch [options] <turn>

follow a turn from its first step to its result

Arguments:
  turn         turn id

Options:
  --json       print the result as one JSON document at the end
  --out <dir>  write the files that the turn made below this folder
  -h, --help   display help for command
`,
  result: `Usage: skillmill result [options] <turn>

fetch a turn’s result

Arguments:
  turn         turn id

Options:
  --wait       wait for it if the turn is not finished
  --json       print the whole result as one JSON document
  --out <dir>  write the files that the turn made below this folder
  -h, --help   display help for command
`,
  cancel: `Usage: skillmill cancel [options] <turn>

cancel a turn that waits or runs

Arguments:
  turn        turn id

Options:
  --json      print { turnId, outcome } as JSON
  -h, --help  display help for command
`,
  retry: `Usage: skillmill retry [options] <turn>

run a failed or cancelled turn again, from where it was, and follow it

Arguments:
  turn         turn id

Options:
  --detach     print the new turn’s id and do not follow it
  --json       print the whole result (with --detach { turnId, sessionId,
               position }) as JSON
  --out <dir>  write the files that the turn made below this folder
  -h, --help   display help for command
`,
};

it.each(Object.entries(pinned))('skillmill %s --help', async (command, text) => {
  const outcome = await cli([...command.split(' '), '--help'], {});
  expect(outcome).toEqual({ code: 0, stdout: text, stderr: '' });
});
