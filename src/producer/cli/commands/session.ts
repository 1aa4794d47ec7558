import type { Command } from 'commander';
import type { Message } from '../../../shared/contracts/index.js';
import type { SessionView } from '../../session-handle.js';
import type { CommandContext } from '../command-context.js';
import { openClient } from '../open-client.js';
import { printableLine } from '../printable.js';

/** `skillmill session`: what is kept of a session, and its end. */
export function addSessionCommand(program: Command, context: CommandContext): void {
  const session = program.command('session').description('look at a session, or empty it');
  session
    .command('show')
    .description('show a session’s messages, loaded skills, artifacts and workspace files')
    .argument('<id>', 'session id')
    .option('--json', 'print { sessionId, messages, skills, artifacts, workspace } as JSON')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await using client = await openClient();
      const view = await client.session(id).show();
      context.stdout(json === true ? `${JSON.stringify(view, null, 2)}\n` : linesOf(view));
    });
  session
    .command('reset')
    .description('forget a session’s messages, skills, artifacts and files')
    .argument('<id>', 'session id')
    .option('--json', 'print { sessionId, outcome } as JSON')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await using client = await openClient();
      await client.session(id).reset();
      const outcome = { sessionId: id, outcome: 'reset' };
      if (json === true) context.stdout(`${JSON.stringify(outcome)}\n`);
      else context.stderr('reset: nothing of the session is left but its name');
    });
}

function linesOf({ messages, skills, artifacts, workspace }: SessionView): string {
  const files = workspace?.files ?? [];
  const sized = (sizeBytes: number, name: string) => `${String(sizeBytes).padStart(12)}  ${name}`;
  const parts: [title: string, lines: string[]][] = [
    ['messages', messages.map(messageLine)],
    ['loaded skills', skills.map((name) => `  ${name}`)],
    ['artifacts', artifacts.map(({ sizeBytes, ref }) => sized(sizeBytes, ref))],
    [
      `workspace files${workspace === null ? '' : ` (version ${workspace.version})`}`,
      files.map(({ path, kind, sizeBytes }) =>
        sized(sizeBytes, kind === 'directory' ? `${path}/` : path),
      ),
    ],
  ];
  return parts
    .flatMap(([title, lines]) => [`${title}: ${lines.length}`, ...lines.map(printableLine)])
    .map((line) => `${line}\n`)
    .join('');
}

function messageLine(message: Message): string {
  const { role, content } = message;
  const said =
    typeof content === 'string' ? content : content === null ? '' : JSON.stringify(content);
  const calls =
    role === 'assistant' ? message.toolCalls.map((call) => `${call.name}(${call.arguments})`) : [];
  const whole = [said, ...calls].filter((part) => part !== '').join(' ');
  const shown = whole.length > 300 ? `${whole.slice(0, 300)}…` : whole;
  return `  ${role}: ${shown}`;
}
