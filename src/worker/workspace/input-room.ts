import { SkillmillError } from '../../shared/errors/skillmill-error.js';

const mebibyte = 1024 * 1024;
/** What the inputs of one command may take together; the worker holds them while they go into the sandbox. */
const limitBytes = 64 * mebibyte;
const limitFiles = 1000;

/** Counts what a command's inputs take. */
export class InputRoom {
  #bytes = 0;
  #files = 0;

  /** Takes room for a file. @throws SkillmillError TOOL_INPUT_INVALID when there is none */
  take(bytes: number): void {
    this.#bytes += bytes;
    this.#files += 1;
    if (this.#bytes <= limitBytes && this.#files <= limitFiles) return;
    throw new SkillmillError(
      'TOOL_INPUT_INVALID',
      `The inputs are too large: one command takes ${limitFiles} files and ${limitBytes / mebibyte} MiB at most. Ask for fewer, or for the files that are needed.`,
    );
  }
}
