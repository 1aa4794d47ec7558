import { text } from 'node:stream/consumers';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { priorities, type TurnRequestInput } from '../../shared/contracts/index.js';
import { readFiles } from './file-arguments.js';

/** The options that say what a turn is; `run`, `enqueue` and `schedule add` share them. */
export interface TurnOptions {
  readonly session?: string;
  readonly skill?: readonly string[];
  readonly file?: readonly string[];
  readonly model?: string;
  readonly instructions?: string;
  readonly timeout?: number;
  readonly onBusy?: TurnRequestInput['onBusy'];
  readonly key?: string;
  readonly priority?: TurnRequestInput['priority'];
  readonly delay?: number;
}

const several = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** Adds the message and the turn's options to a command. */
export function withTurnArguments(command: Command): Command {
  withMessage(command).option(
    '--key <text>',
    'idempotency key: the same key for the same session gives its first turn',
  );
  return withPriority(command).option(
    '--delay <seconds>',
    'take its place in the line after this time',
    parseSeconds,
  );
}

/** The same for a turn that repeats, whose key and time are its schedule's. */
export function withRepeatedTurn(command: Command): Command {
  return withPriority(withMessage(command));
}

function withPriority(command: Command): Command {
  return command.addOption(
    new Option('--priority <priority>', 'which sessions go first (default: normal)').choices([
      ...priorities,
    ]),
  );
}

function withMessage(command: Command): Command {
  return command
    .argument('<message>', 'the user message; - reads it from standard input')
    .option('--session <id>', 'session to continue (default: a new one)')
    .option('--skill <name>', 'load this skill first; may be repeated', several)
    .option(
      '--file <src[:dest]>',
      'put a file, a URL or an artifact:// into work/inputs/; may be repeated',
      several,
    )
    .option('--model <name>', 'model for this turn')
    .option('--instructions <text>', 'system instructions for this turn')
    .option('--timeout <seconds>', 'fail the turn after this time', parseSeconds)
    .addOption(
      new Option(
        '--on-busy <what>',
        'what to do when the session has a turn that waits or runs (default: queue)',
      ).choices(['queue', 'reject', 'interrupt', 'steer']),
    );
}

/** The turn request that the arguments ask for. @throws SkillmillError INPUT_INVALID naming every file that cannot be read */
export async function turnFromArguments(
  message: string,
  options: TurnOptions,
): Promise<TurnRequestInput> {
  return {
    input: message === '-' ? await readStandardInput() : message,
    ...(options.session === undefined ? {} : { sessionId: options.session }),
    ...(options.skill === undefined ? {} : { skills: [...options.skill] }),
    ...(options.file === undefined ? {} : { files: await readFiles(options.file) }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
    ...(options.onBusy === undefined ? {} : { onBusy: options.onBusy }),
    ...(options.key === undefined ? {} : { idempotencyKey: options.key }),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
    ...(options.delay === undefined ? {} : { delayMs: Math.round(options.delay * 1000) }),
    ...(options.timeout === undefined ? {} : { limits: { turnTimeoutMs: options.timeout * 1000 } }),
  };
}

function parseSeconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value;
  throw new InvalidArgumentError('It must be a number of seconds above 0.');
}

async function readStandardInput(): Promise<string> {
  return (await text(process.stdin)).trimEnd();
}
