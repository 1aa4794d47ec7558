import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { printable } from './printable.js';
import { noColorAsked } from '../../shared/config/load-config.js';

/** Ends a command with this exit code; a command that does not call it exits 0. */
export type Exit = (code: number) => void;

/** What a command may touch of its process; tests and embedders hand in their own. */
export interface CommandContext {
  /** Answers: the turn's text, or the one JSON document. */
  readonly stdout: (text: string) => void;
  /** A file's bytes, as they are. */
  readonly stdoutBytes: (bytes: Readable) => Promise<void>;
  /** Steps and complaints, a line each. */
  readonly stderr: (line: string) => void;
  /** Is stderr a terminal that may be coloured? */
  readonly colour: boolean;
  /** Does a person read stdout directly? Then control characters are shown, not sent. */
  readonly stdoutIsTerminal: boolean;
}

/** The real process's streams. */
export function processContext(): CommandContext {
  // A reader that has gone away (`| head`) is no fault of ours.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    stdout: (text) => process.stdout.write(text),
    stdoutBytes: (bytes) =>
      pipeline(bytes, process.stdout, { end: false }).catch((error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
      }),
    // Everything that is printed for people passes here: names and errors hold text that nobody vouches for.
    stderr: (line) => process.stderr.write(`${printable(line)}\n`),
    colour: process.stderr.isTTY && !noColorAsked(),
    stdoutIsTerminal: process.stdout.isTTY,
  };
}
