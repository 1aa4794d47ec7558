import { expect, it } from 'vitest';
import { cli } from '../support/cli.js';

// The built command line is asked: run `npm run build` before.
const pinned: Record<string, string> = {
  '': `Usage: skillmill [options] [command]

Runs agent turns as jobs: any worker takes a turn, skills run in a container
made for it.

Options:
  -V, --version                output the version number
  -h, --help                   display help for command

Commands:
  run [options] <message>      enqueue one turn and follow it: steps on stderr,
                               the answer on stdout
  enqueue [options] <message>  enqueue one turn and print its id
  watch [options] <turn>       follow a turn from its first step to its result
  result [options] <turn>      fetch a turn’s result
  cancel [options] <turn>      cancel a turn that waits or runs
  retry [options] <turn>       run a failed or cancelled turn again, from where
                               it was, and follow it
  schedule                     have turns repeated by cron
  session                      look at a session, or empty it
  artifacts                    list and fetch a session’s artifacts
  usage [options]              report model calls, tokens and cost
  gc [options]                 remove stored files that no session, result or
                               running turn refers to
  skills                       look at, check and pin skills
  schema <name>                print a contract as JSON Schema
  worker                       take turns from the queue and run them until
                               SIGTERM or SIGINT
  help [command]               display help for command
`,
  usage: `Usage: skillmill usage [options]

report model calls, tokens and cost

Options:
  --by <what>      session, tenant, model or skill (default: "model")
  --since <date>   first day, UTC (default: 30 days in all)
  --until <date>   last day, UTC (default: today)
  --session <id>   of this session only
  --tenant <name>  of this tenant (default: SKILLMILL_TENANT; by tenant: all)
  --json           print { by, since, until, rows, total } as JSON
  -h, --help       display help for command
`,
  skills: `Usage: skillmill skills [options] [command]

look at, check and pin skills

Options:
  -h, --help                    display help for command

Commands:
  list [options]                list the skills of the roots; what is wrong with
                                them goes to stderr
  show [options] <name>         show one skill: manifest, tools, docs, files,
                                digest and body
  validate [options] <path...>  hold skills against the Agent Skills
                                specification; exit 1 on any error
  lock [options]                write the digest of every skill to the skills
                                lock (SKILLMILL_SKILLS_LOCK)
  verify [options]              compare the skills with the skills lock; exit 1
                                on any difference
  help [command]                display help for command
`,
  'skills list': `Usage: skillmill skills list [options]

list the skills of the roots; what is wrong with them goes to stderr

Options:
  --root <dir>  folder with skills, in place of SKILLS_ROOT; may be repeated
  --json        print { skills, diagnostics } as JSON
  -h, --help    display help for command
`,
  'skills show': `Usage: skillmill skills show [options] <name>

show one skill: manifest, tools, docs, files, digest and body

Arguments:
  name          name of the skill

Options:
  --root <dir>  folder with skills, in place of SKILLS_ROOT; may be repeated
  --json        print the skill, its files and its diagnostics as one JSON
                document
  -h, --help    display help for command
`,
  'skills validate': `Usage: skillmill skills validate [options] <path...>

hold skills against the Agent Skills specification; exit 1 on any error

Arguments:
  path        skill folders, SKILL.md files or folders of skills

Options:
  --json      print { findings, errors, warnings } as JSON
  -h, --help  display help for command
`,
  'skills lock': `Usage: skillmill skills lock [options]

write the digest of every skill to the skills lock (SKILLMILL_SKILLS_LOCK)

Options:
  --root <dir>  folder with skills, in place of SKILLS_ROOT; may be repeated
  --check       write nothing; exit 1 when the lock is not what would be written
  -h, --help    display help for command
`,
  'skills verify': `Usage: skillmill skills verify [options]

compare the skills with the skills lock; exit 1 on any difference

Options:
  --root <dir>  folder with skills, in place of SKILLS_ROOT; may be repeated
  --json        print { changed, missing, extra } as JSON
  -h, --help    display help for command
`,
  schema: `Usage: skillmill schema [options] <name>

print a contract as JSON Schema

Arguments:
  name        turn-request, turn-result, turn-event, artifact

Options:
  -h, --help  display help for command
`,
  worker: `Usage: skillmill worker [options]

take turns from the queue and run them until SIGTERM or SIGINT

Options:
  -h, --help  display help for command
`,
};

it.each(Object.entries(pinned))('skillmill %s --help', async (command, text) => {
  const outcome = await cli([...(command === '' ? [] : command.split(' ')), '--help'], {});
  expect(outcome).toEqual({ code: 0, stdout: text, stderr: '' });
});

it('the version is the package’s', async () => {
  const outcome = await cli(['--version'], {});
  expect(outcome).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
});

it.each([
  ['no command', []],
  ['an unknown command', ['fly']],
  ['an unknown option', ['run', 'x', '--fast']],
  ['a missing argument', ['watch']],
])('%s is wrong usage: exit 2, said on stderr only', async (_, args) => {
  const outcome = await cli(args, {});
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).not.toBe('');
  expect(outcome.stderr).not.toMatch(/^\s+at /m);
});
