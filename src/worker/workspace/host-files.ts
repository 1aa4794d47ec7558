import { constants } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { InputRoom } from './input-room.js';

/** A file of this machine. */
export interface HostFile {
  /** Relative to what was asked for; empty when that is the file itself. */
  readonly path: string;
  readonly executable: boolean;
  readonly content: Buffer;
}

/** Reads a file, or all files of a folder, below one of the allowed folders. Links are followed only to files that are below the same one.
 *  @throws SkillmillError TOOL_INPUT_INVALID */
export async function readHostFiles(
  asked: string,
  allowed: readonly string[],
  room: InputRoom,
): Promise<readonly HostFile[]> {
  const path = resolve('/', asked);
  const folder = allowed.map((each) => resolve('/', each)).find((each) => isBelow(path, each));
  // What is outside is told without a look at it: nobody learns which files there are.
  if (folder === undefined) throw notAllowed(asked, allowed);
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined) throw missing(asked);
  const reader = new HostReader(asked, root, room);
  await reader.add(path, '');
  return reader.files;
}

class HostReader {
  readonly files: HostFile[] = [];
  readonly #asked: string;
  readonly #root: string;
  readonly #room: InputRoom;

  constructor(asked: string, root: string, room: InputRoom) {
    this.#asked = asked;
    this.#root = root;
    this.#room = room;
  }

  /** A linked folder is entered only where it is the one that was asked for, so that no ring of links is walked. */
  async add(path: string, name: string): Promise<void> {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) throw missing(this.#asked);
    if (!isBelow(real, this.#root))
      throw refusal(this.#asked, name, 'leads out of the allowed folder');
    const found = await lstat(real);
    const isLink = (await lstat(path)).isSymbolicLink();
    if (found.isDirectory() && !(isLink && name !== '')) {
      for (const entry of (await readdir(real)).sort())
        await this.add(join(real, entry), join(name, entry));
    } else if (found.isFile()) {
      await this.#read(real, name);
    } else {
      throw refusal(this.#asked, name, 'is neither a regular file nor a folder');
    }
  }

  async #read(real: string, name: string): Promise<void> {
    // Opened without following, and looked at once more: the file may have been replaced meanwhile.
    const file = await open(
      real,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    ).catch(() => {
      throw refusal(this.#asked, name, 'cannot be read');
    });
    try {
      const { size, mode } = await file.stat();
      this.#room.take(size);
      // A file that grows under the reading is not read past what there is room for.
      const content = Buffer.alloc(size);
      const { bytesRead } = await file.read(content, 0, size, 0);
      const executable = (mode & 0o100) !== 0;
      this.files.push({ path: name, executable, content: content.subarray(0, bytesRead) });
    } finally {
      await file.close();
    }
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`));
}

function notAllowed(asked: string, allowed: readonly string[]): SkillmillError {
  const may =
    allowed.length === 0
      ? 'host:// inputs are not allowed here'
      : `host:// inputs may come from ${allowed.join(', ')} only`;
  return new SkillmillError('TOOL_INPUT_INVALID', `inputs: ${shown(asked)} is refused: ${may}.`);
}

function missing(asked: string): SkillmillError {
  return new SkillmillError('TOOL_INPUT_INVALID', `inputs: there is no ${shown(asked)}.`);
}

function refusal(asked: string, name: string, why: string): SkillmillError {
  const what =
    name === '' ? shown(asked) : `${JSON.stringify(name.slice(0, 200))} in ${shown(asked)}`;
  return new SkillmillError('TOOL_INPUT_INVALID', `inputs: ${what} ${why}, so nothing was copied.`);
}

function shown(path: string): string {
  return JSON.stringify(`host://${path.slice(0, 300)}`);
}
