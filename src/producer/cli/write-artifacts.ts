import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isPlainRelativePath, type Artifact } from '../../shared/contracts/index.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { Client } from '../client.js';

/** Writes a turn's artifacts below a folder, each at its name; the last version of a name wins. Returns the paths. */
export async function writeArtifacts(
  client: Client,
  artifacts: readonly Artifact[],
  folder: string,
): Promise<string[]> {
  const latest = new Map(artifacts.map((artifact) => [artifact.name, artifact]));
  const written: string[] = [];
  await mkdir(folder, { recursive: true });
  for (const artifact of latest.values()) {
    const path = pathInside(folder, artifact.name);
    try {
      await mkdir(dirname(path), { recursive: true });
      await pipeline(await client.openArtifact(artifact), createWriteStream(path));
    } catch (error) {
      if (error instanceof SkillmillError) throw error;
      throw new SkillmillError(
        'INPUT_INVALID',
        `${path} could not be written: ${errorMessage(error)}.`,
      );
    }
    written.push(path);
  }
  return written;
}

/** A name from a sandbox is never trusted as a path. */
function pathInside(folder: string, name: string): string {
  const path = resolve(join(folder, name));
  if (isPlainRelativePath(name) && path.startsWith(resolve(folder) + sep)) return path;
  throw new SkillmillError(
    'INPUT_INVALID',
    `The artifact's name ${JSON.stringify(name)} is no plain path; fetch it by itself.`,
  );
}
