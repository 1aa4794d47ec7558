import type { BlobInfo } from '../../shared/blobs/blob-store.js';
import { formatArtifactRef, type Artifact } from '../../shared/contracts/index.js';

/** The artifacts that a turn saves; versions go on from the session's. */
export interface TurnArtifacts {
  /** Names a stored blob; the content that the name's last version has already keeps that version. */
  save(name: string, blob: BlobInfo, mimeType: string): Artifact;
  /** Takes over what an attempt before saved. */
  restore(artifact: Artifact): void;
  /** An artifact of the session, as of now; the last version when none is named. */
  find(name: string, version?: number): Artifact | undefined;
  /** Names that there are, in the order in which they came. */
  names(): readonly string[];
  /** What this turn saved, in order. */
  readonly saved: readonly Artifact[];
}

/** `publicName` takes out of a path what nobody is to see. Begins with what the session has. Only the lease's holder saves, so versions never collide. */
export function createTurnArtifacts(
  session: readonly Artifact[],
  onSaved: (artifact: Artifact) => void,
  publicName: (name: string) => string = (name) => name,
): TurnArtifacts {
  const latest = new Map(session.map((artifact) => [artifact.name, artifact]));
  const saved: Artifact[] = [];
  return {
    saved,
    find: (name, version) =>
      version === undefined
        ? latest.get(name)
        : [...session, ...saved].find((made) => made.name === name && made.version === version),
    names: () => [...latest.keys()],
    restore(artifact) {
      latest.set(artifact.name, artifact);
      saved.push(artifact);
    },
    save(path, blob, mimeType) {
      const name = publicName(path);
      const before = latest.get(name);
      const isSame = before?.sha256 === blob.sha256;
      if (isSame && saved.includes(before)) return before;
      const artifact = isSame ? before : nextVersion(before, { name, blob, mimeType });
      latest.set(name, artifact);
      saved.push(artifact);
      onSaved(artifact);
      return artifact;
    },
  };
}

/** Its fields stand in the schema's order: what is read back and written again is the same text, and kept once. */
function nextVersion(
  before: Artifact | undefined,
  { name, blob, mimeType }: Pick<Artifact, 'name' | 'mimeType'> & { readonly blob: BlobInfo },
): Artifact {
  const version = before === undefined ? 0 : before.version + 1;
  const { sizeBytes, sha256 } = blob;
  return { name, version, mimeType, sizeBytes, sha256, ref: formatArtifactRef(name, version) };
}
