import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isPlainRelativePath, type Artifact } from '../../shared/contracts/index.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { Client } from '../client.js';

/** Makes the folder before anything is paid for. @throws SkillmillError INPUT_INVALID */
export async function prepareFolder(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new SkillmillError(
      'INPUT_INVALID',
      `--out ${folder} is no folder that can be written: ${errorMessage(error)}.`,
    );
  });
}

export interface WrittenArtifacts {
  readonly written: readonly string[];
  /** What could not be written, each with the reason. */
  readonly faults: readonly string[];
}

/** Writes a turn's artifacts below a folder, each at its name; the last version of a name wins. Whatever can be written is. */
export async function writeArtifacts(
  client: Pick<Client, 'openArtifact'>,
  artifacts: readonly Artifact[],
  folder: string,
): Promise<WrittenArtifacts> {
  const written: string[] = [];
  const faults: string[] = [];
  for (const [name, artifact] of latestByName(artifacts)) {
    try {
      const path = join(folder, name);
      await writeArtifact(client, artifact, path);
      written.push(path);
    } catch (error) {
      faults.push(`${artifact.name}: ${errorMessage(error)}`);
    }
  }
  return { written, faults };
}

/** The files that stood last: a file that became a folder, or a folder that became a file, is not there any more. */
function latestByName(artifacts: readonly Artifact[]): ReadonlyMap<string, Artifact> {
  const latest = new Map<string, Artifact>();
  for (const artifact of artifacts) {
    const name = plainName(artifact.name);
    for (const other of [...latest.keys()]) {
      if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) latest.delete(other);
    }
    latest.set(name, artifact);
  }
  return latest;
}

/** A name from a sandbox is never trusted as a path: odd characters are written as %XX. */
function plainName(name: string): string {
  if (isPlainRelativePath(name)) return name;
  return name
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .map((part) => part.replace(/[\\\u0000-\u001f\u007f]/g, percent))
    .join('/');
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;
}

/** Writes one; a file under a temporary name first, so that half of it is never taken for the whole. */
export async function writeArtifact(
  client: Pick<Client, 'openArtifact'>,
  artifact: Artifact,
  path: string,
): Promise<void> {
  const toStream = await isStream(path);
  await mkdir(dirname(path), { recursive: true });
  // A short name of its own: that of the file may be as long as names can be.
  const target = toStream ? path : join(dirname(path), `.${randomUUID()}.part`);
  try {
    await pipeline(await client.openArtifact(artifact), createWriteStream(target));
    if (!toStream) await rename(target, path);
  } catch (error) {
    if (!toStream) await rm(target, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A device or a pipe takes the bytes itself; to rename a file over it would put an end to it. @throws Error for a folder */
async function isStream(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) throw new Error('it is a folder; name a file in it');
  return found?.isFile() === false;
}
