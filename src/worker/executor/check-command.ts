import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { checkEntry } from './check-entry.js';
import type { Command } from './command.js';

/** Linux takes no argument or variable of 128 KiB or more (MAX_ARG_STRLEN), its closing NUL included. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
/** All variables together; execve refuses arguments and environment above a quarter of the 8 MiB stack. */
const MAX_ENVIRONMENT_BYTES = 1024 * 1024;

/** Refuses what no shell could be started with. @throws SkillmillError TOOL_INPUT_INVALID that says what to change; INTERNAL
 *  for a folder to make that is not the commands' */
export function checkCommand(command: Command): void {
  if (command.makeDir !== undefined) {
    checkEntry({ path: command.makeDir, kind: 'directory', mode: 0o755 }, 'command');
  }
  if (command.line.includes('\0') || command.cwd.includes('\0')) {
    throw refusal('The command holds a NUL character, which no shell takes: remove it.');
  }
  const lineBytes = Buffer.byteLength(command.line);
  if (lineBytes > MAX_ARGUMENT_BYTES) {
    throw refusal(
      `The command is ${lineBytes} bytes long and at most ${MAX_ARGUMENT_BYTES} are possible: pass data by stdin or write a script file.`,
    );
  }
  let total = 0;
  for (const [name, value] of Object.entries(command.env)) {
    const bytes = Buffer.byteLength(name) + 1 + Buffer.byteLength(value);
    total += bytes;
    if (name === '' || name.includes('=') || name.includes('\0') || value.includes('\0')) {
      throw refusal(
        `The environment variable ${JSON.stringify(name)} cannot be set: a name must not be empty or hold "=", and neither may hold NUL.`,
      );
    }
    if (bytes > MAX_ARGUMENT_BYTES) {
      throw refusal(
        `The environment variable ${JSON.stringify(name)} takes ${bytes} bytes and at most ${MAX_ARGUMENT_BYTES} are possible: pass the data by stdin or a file.`,
      );
    }
  }
  if (total > MAX_ENVIRONMENT_BYTES) {
    throw refusal(
      `The environment takes ${total} bytes and at most ${MAX_ENVIRONMENT_BYTES} are possible: pass the data by stdin or a file.`,
    );
  }
}

function refusal(message: string): SkillmillError {
  return new SkillmillError('TOOL_INPUT_INVALID', message);
}
