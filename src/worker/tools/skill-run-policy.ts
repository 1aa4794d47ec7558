import type { SkillRunConfig } from '../../shared/config/config.js';
import { environmentNameFault } from '../../shared/config/environment-name.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { splitWords } from './skill-run-words.js';

/** A command as the model gave it. */
export interface AskedCommand {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** Does it run in the skill's own folder? */
  readonly inSkillFolder: boolean;
}

/** Programs that an allowed one starts, loads, or is told to start by settings of these names would be chosen by the model. */
const startsPrograms: readonly RegExp[] = [
  /^(GIT_.*|VISUAL|SHELL|BROWSER|.*(EDITOR|PAGER)|.*_(RSH|ASKPASS)|LESS(OPEN|CLOSE))$/,
  /^(TAR_OPTIONS|MAKE(FLAGS|FILES)|GNUMAKEFLAGS|GOFLAGS|RUSTC_.*|CARGO_.*|(NPM|PIP)_CONFIG_.*)$/i,
  /^(XDG_.*|OPENSSL_.*|PYTHONPYCACHEPREFIX|MPLBACKEND|(GEM|BUNDLE)_.*|PHPRC|PHP_INI_SCAN_DIR)$/,
];

/** Does the operator restrict commands? They run without a shell then. */
export function isRestricted(config: SkillRunConfig): boolean {
  return config.allowedCommands !== undefined || config.deniedCommands !== undefined;
}

/** The line for `bash -c`: the command as it is, or where commands are restricted, its words quoted, which the shell only hands over.
 *  @throws SkillmillError TOOL_INPUT_INVALID for a command that needs a shell, or that is not allowed */
export function commandLine(config: SkillRunConfig, asked: AskedCommand): string {
  if (!isRestricted(config)) return asked.command;
  const words = splitWords(asked.command);
  const [program] = words;
  if (program === undefined || program === '') throw refusal('The command is empty');
  checkProgram(config, program, asked.inSkillFolder);
  for (const name of Object.keys(asked.env)) checkVariable(name);
  return `exec -- ${words.map(quoted).join(' ')}`;
}

function checkProgram(config: SkillRunConfig, program: string, inSkillFolder: boolean): void {
  const { allowedCommands, deniedCommands } = config;
  const shown = JSON.stringify(program.slice(0, 100));
  const may =
    allowedCommands === undefined
      ? `all but ${deniedCommands?.join(', ') ?? 'none'} may be run, by name`
      : `allowed are ${allowedCommands.join(', ')}`;
  if (deniedCommands?.includes(program) === true) {
    throw refusal(`${shown} is denied by the operator (denied_commands); ${may}`);
  }
  if (allowedCommands?.includes(program) === false) {
    throw refusal(`${shown} is not in the operator's allowed_commands; ${may}`);
  }
  if (!program.includes('/')) return;
  // A path is a program of anybody's making, unless the operator names just this one.
  if (allowedCommands === undefined) throw refusal(`${shown} is a path; ${may}`);
  if (!program.startsWith('/') && !inSkillFolder) {
    throw refusal(`${shown} may be run in the skill's own folder only; leave cwd out`);
  }
}

function checkVariable(name: string): void {
  const isHarmless = !startsPrograms.some((rule) => rule.test(name));
  if (environmentNameFault(name) === undefined && isHarmless) return;
  throw refusal(`env ${name} could make an allowed program run another one; leave it out`);
}

/** A word that no shell changes. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function refusal(why: string): SkillmillError {
  return new SkillmillError('TOOL_INPUT_INVALID', `The operator restricts commands: ${why}.`);
}
