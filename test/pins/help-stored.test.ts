import { expect, it } from 'vitest';
import { cli } from '../support/cli.js';

// The built command line is asked: run `npm run build` before. The commands of what lasts; help.test.ts has the others.
const pinned: Record<string, string> = {
  artifacts: `Usage: skillmill artifacts [options] [command]

list and fetch a session’s artifacts

Options:
  -h, --help                display help for command

Commands:
  list [options] <session>  list every version of every artifact of a session
  get [options] <ref>       fetch one artifact, byte for byte
  help [command]            display help for command
`,
  'artifacts list': `Usage: skillmill artifacts list [options] <session>

list every version of every artifact of a session

Arguments:
  session     session id

Options:
  --json      print the artifacts as a JSON array
  -h, --help  display help for command
`,
  'artifacts get': `Usage: skillmill artifacts get [options] <ref>

fetch one artifact, byte for byte

Arguments:
  ref              artifact://name@version, name@version, or name for its last
                   version

Options:
  --session <id>   session that has it
  --out <file>     write it to this file, over what is there; - is standard
                   output (default: "-")
  --json           print what was written to --out as JSON
  --url [seconds]  print a URL that reads it for so long (default: 3600)
  -h, --help       display help for command
`,
  session: `Usage: skillmill session [options] [command]

look at a session, or empty it

Options:
  -h, --help            display help for command

Commands:
  show [options] <id>   show a session’s messages, loaded skills, artifacts and
                        workspace files
  reset [options] <id>  forget a session’s messages, skills, artifacts and files
  help [command]        display help for command
`,
  'session show': `Usage: skillmill session show [options] <id>

show a session’s messages, loaded skills, artifacts and workspace files

Arguments:
  id          session id

Options:
  --json      print { sessionId, messages, skills, artifacts, workspace } as
              JSON
  -h, --help  display help for command
`,
  'session reset': `Usage: skillmill session reset [options] <id>

forget a session’s messages, skills, artifacts and files

Arguments:
  id          session id

Options:
  --json      print { sessionId, outcome } as JSON
  -h, --help  display help for command
`,
  gc: `Usage: skillmill gc [options]

remove stored files that no session, result or running turn refers to

Options:
  --grace <seconds>  leave alone what was stored later than this (default:
                     SKILLMILL_GC_GRACE)
  --dry-run          remove nothing, say what would be
  --take-over        collect in a store that another deployment has claimed
  --json             print { dryRun, references, store, storeSkipped,
                     unfinished, redis } as JSON
  -h, --help         display help for command
`,
};

it.each(Object.entries(pinned))('skillmill %s --help', async (command, text) => {
  const outcome = await cli([...command.split(' '), '--help'], {});
  expect(outcome).toEqual({ code: 0, stdout: text, stderr: '' });
});
