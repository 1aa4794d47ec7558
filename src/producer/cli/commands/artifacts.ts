import { text } from 'node:stream/consumers';
import { InvalidArgumentError, type Command } from 'commander';
import type { Artifact } from '../../../shared/contracts/index.js';
import { errorMessage, SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { Client } from '../../client.js';
import type { CommandContext } from '../command-context.js';
import { openClient } from '../open-client.js';
import { plainPrintable, printableLine } from '../printable.js';
import { writeArtifact } from '../write-artifacts.js';

interface GetOptions {
  readonly session: string;
  readonly out: string;
  readonly url?: number | true;
  readonly json?: boolean;
}

/** `skillmill artifacts`: the files that a session's turns have kept. */
export function addArtifactsCommand(program: Command, context: CommandContext): void {
  const artifacts = program
    .command('artifacts')
    .description('list and fetch a session’s artifacts');
  artifacts
    .command('list')
    .description('list every version of every artifact of a session')
    .argument('<session>', 'session id')
    .option('--json', 'print the artifacts as a JSON array')
    .action(async (session: string, { json }: { json?: boolean }) => {
      await using client = await openClient();
      const all = await client.artifacts(session).list();
      context.stdout(json === true ? `${JSON.stringify(all, null, 2)}\n` : linesOf(all));
    });
  artifacts
    .command('get')
    .description('fetch one artifact, byte for byte')
    .argument('<ref>', 'artifact://name@version, name@version, or name for its last version')
    .requiredOption('--session <id>', 'session that has it')
    .option('--out <file>', 'write it to this file, over what is there; - is standard output', '-')
    .option('--json', 'print what was written to --out as JSON')
    .option('--url [seconds]', 'print a URL that reads it for so long (default: 3600)', urlSeconds)
    .action(async (ref: string, options: GetOptions) => {
      await using client = await openClient();
      await fetchArtifact(client, context, ref, options);
    });
}

async function fetchArtifact(
  client: Client,
  context: CommandContext,
  ref: string,
  options: GetOptions,
): Promise<void> {
  checkTarget(options);
  const { session, out, url, json } = options;
  const artifacts = client.artifacts(session);
  if (url !== undefined) {
    context.stdout(`${await artifacts.signedUrl(ref, url === true ? undefined : url)}\n`);
    return;
  }
  const artifact = await artifacts.find(ref);
  if (out !== '-') {
    await writeArtifact(client, artifact, out).catch((error: unknown) => {
      if (error instanceof SkillmillError) throw error;
      throw new SkillmillError(
        'INPUT_INVALID',
        `--out ${out} cannot be written: ${errorMessage(error)}.`,
      );
    });
    if (json === true) context.stdout(`${JSON.stringify(artifact, null, 2)}\n`);
    else
      context.stderr(printableLine(`${artifact.ref} (${artifact.sizeBytes} bytes) is in ${out}`));
    return;
  }
  if (context.stdoutIsTerminal) context.stdout(await shownText(client, artifact));
  else await context.stdoutBytes(await client.openArtifact(artifact));
}

function checkTarget({ out, url, json }: GetOptions): void {
  const isFile = out !== '-';
  const fault =
    (out === '' && '--out is empty: it names a file.') ||
    (url !== undefined &&
      isFile &&
      '--url prints a URL and writes no file; leave --out or --url away.') ||
    (json === true && !isFile && '--json tells of the file that --out names; add --out FILE.');
  if (fault !== false) throw new SkillmillError('INPUT_INVALID', fault);
}

/** For a person's eyes: what is no text would only upset the terminal. */
async function shownText(client: Client, artifact: Artifact): Promise<string> {
  if (/^text\/|[/+](json|xml|yaml)$/.test(artifact.mimeType)) {
    return plainPrintable(await text(await client.openArtifact(artifact)));
  }
  const sentence = `${artifact.ref} is ${artifact.mimeType}, which a terminal cannot show. Write it to a file with --out FILE.`;
  throw new SkillmillError('INPUT_INVALID', sentence);
}

function linesOf(artifacts: readonly Artifact[]): string {
  return artifacts
    .map(({ ref, sizeBytes, mimeType }) => {
      const facts = `${String(sizeBytes).padStart(12)}  ${mimeType.padEnd(24)}`;
      return `${printableLine(`${facts}  ${ref}`)}\n`;
    })
    .join('');
}

function urlSeconds(said: string): number {
  if (/^\d{1,9}$/.test(said)) return Number(said);
  throw new InvalidArgumentError('It is a whole number of seconds.');
}
