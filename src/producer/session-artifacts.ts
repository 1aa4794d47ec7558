import type { Readable } from 'node:stream';
import type { BlobKeeper } from '../shared/blobs/blob-store.js';
import { parseArtifactRef, type Artifact } from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { parseSessionId, readKnownSession, type SessionContext } from './session-handle.js';

/** A session's artifacts from outside; each method @throws SkillmillError SESSION_NOT_FOUND, REDIS_UNAVAILABLE */
export interface SessionArtifacts {
  /** Every version of every artifact, in the order in which they were saved. */
  list(): Promise<readonly Artifact[]>;
  /** One by `artifact://name@version`, `name@version`, or `name` for its last version. @throws SkillmillError ARTIFACT_NOT_FOUND */
  find(ref: string): Promise<Artifact>;
  /** Its bytes. @throws SkillmillError ARTIFACT_NOT_FOUND, BLOB_NOT_FOUND, BLOB_UNAVAILABLE */
  open(ref: string): Promise<Readable>;
  /**
   * A URL that reads it without credentials, for so many seconds (an hour unless it is said). Needs a bucket.
   * @throws SkillmillError ARTIFACT_NOT_FOUND, INPUT_INVALID, BLOB_UNAVAILABLE
   */
  signedUrl(ref: string, seconds?: number): Promise<string>;
}

/** What S3 signs for at most. */
const longestUrlSeconds = 7 * 86_400;

/** The artifacts of a session. @throws SkillmillError INPUT_INVALID */
export function openArtifacts(
  context: SessionContext,
  keeper: BlobKeeper,
  id: string,
): SessionArtifacts {
  const sessionId = parseSessionId(id);
  const list = async () => (await readKnownSession(context, sessionId)).artifacts;
  const find = async (ref: string) => findArtifact(await list(), ref);
  return {
    list,
    find,
    open: async (ref) => context.blobs.open((await find(ref)).sha256),
    async signedUrl(ref, seconds = 3600) {
      checkUrlSeconds(seconds);
      const { sha256 } = await find(ref);
      if (keeper.signedUrl === undefined) throw noBucket();
      // A small one lies in Redis, which serves no URLs.
      if (!(await keeper.has(sha256))) await keeper.put(await context.blobs.open(sha256));
      return keeper.signedUrl(sha256, seconds);
    },
  };
}

function findArtifact(artifacts: readonly Artifact[], asked: string): Artifact {
  const ref = asked.replace(/^artifact:\/\//, '');
  const found =
    artifacts.findLast(({ name, version }) => `${name}@${version}` === ref) ??
    artifacts.findLast(({ name }) => name === ref);
  if (found !== undefined) return found;
  throw new SkillmillError('ARTIFACT_NOT_FOUND', whyNone(artifacts, asked));
}

function whyNone(artifacts: readonly Artifact[], asked: string): string {
  const ref = asked.startsWith('artifact://') ? asked : `artifact://${asked}`;
  const { name, version } = parseArtifactRef(ref) ?? {};
  const shown = JSON.stringify(asked.slice(0, 200));
  if (name === undefined) {
    return `${shown} names no artifact: artifact://name@version, name@version and name do.`;
  }
  const last = artifacts.findLast((artifact) => artifact.name === name)?.version;
  if (last !== undefined) {
    return `The session has no version ${version} of ${JSON.stringify(name)}; the last one is ${last}.`;
  }
  const names = [...new Set(artifacts.map(({ name }) => name))];
  const known = names.length === 0 ? 'It has none.' : `It has ${shownNames(names)}.`;
  return `The session has no artifact ${shown}. ${known}`;
}

function shownNames(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

function checkUrlSeconds(seconds: number): void {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= longestUrlSeconds) return;
  const sentence = `A URL is signed for 1 to ${longestUrlSeconds} seconds, not for ${seconds}.`;
  throw new SkillmillError('INPUT_INVALID', sentence);
}

function noBucket(): SkillmillError {
  return new SkillmillError(
    'INPUT_INVALID',
    'Only a bucket can make a URL, and the files are kept in a folder. Set SKILLMILL_S3_BUCKET here and on the workers, or fetch the artifact itself.',
  );
}
