import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { InputConfig } from '../../shared/config/input-config.js';
import {
  formatArtifactRef,
  parseArtifactRef,
  type Artifact,
} from '../../shared/contracts/index.js';
import { download } from '../../shared/download/download.js';
import { shownUrl } from '../../shared/download/shown-url.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import {
  isStored,
  type RequestedFile,
  type StoredFile,
} from '../../shared/results/stored-request.js';

/** Downloads of one turn that go on at a time. */
const atATime = 4;
const shownNames = 20;
const mebibyte = 1024 * 1024;

/** Where a turn's files come from, and what they may take. */
export interface InputPorts {
  readonly blobs: Pick<BlobStore, 'put'>;
  /** The session's, oldest first. */
  readonly artifacts: readonly Artifact[];
  readonly config: InputConfig;
  /** For all files together: what a session may keep. */
  readonly maxTotalBytes: number;
}

interface InputFault {
  readonly path: string;
  readonly error: SkillmillError;
}

/**
 * Files of a request with their bytes where a sandbox can get them: URLs are downloaded into the blob store, artifacts are found.
 * @throws SkillmillError DOWNLOAD_FAILED, LIMIT_EXCEEDED, INPUT_INVALID with every fault; BLOB_UNAVAILABLE, REDIS_UNAVAILABLE; the signal's reason
 */
export async function resolveInputs(
  files: readonly RequestedFile[],
  ports: InputPorts,
  signal: AbortSignal,
): Promise<readonly StoredFile[]> {
  const stored = new Map<RequestedFile, StoredFile>();
  const faults: InputFault[] = [];
  const bytes = () => [...stored.values()].reduce((sum, file) => sum + file.sizeBytes, 0);
  const waiting = files.values();
  const work = async () => {
    for (const file of waiting) {
      if (bytes() > ports.maxTotalBytes) return;
      try {
        stored.set(file, await resolveOne(file, ports, signal));
      } catch (error) {
        signal.throwIfAborted();
        faults.push({ path: file.path, error: SkillmillError.from(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  if (faults.length > 0) throw asOne(faults, files);
  if (bytes() > ports.maxTotalBytes) throw tooMuch(ports.maxTotalBytes);
  return files.flatMap((file) => stored.get(file) ?? []);
}

async function resolveOne(
  file: RequestedFile,
  ports: InputPorts,
  signal: AbortSignal,
): Promise<StoredFile> {
  if (isStored(file)) return file;
  if ('artifact' in file) return ofArtifact(file, ports.artifacts);
  const { path, url, sha256 } = file;
  const blob = await download(url, (bytes) => ports.blobs.put(bytes, signal), {
    allowHosts: ports.config.allowHosts,
    allowHostsSetting: 'SKILLMILL_INPUT_ALLOW_HOSTS',
    maxBytes: ports.config.maxFileBytes,
    maxBytesSetting: 'SKILLMILL_INPUT_MAX_MB',
    sha256,
    signal,
  });
  return { path, ...blob, source: { url: shownUrl(url) } };
}

/** The artifact's own blob: nothing is copied. */
function ofArtifact(
  { path, artifact: ref }: Extract<RequestedFile, { artifact: string }>,
  artifacts: readonly Artifact[],
): StoredFile {
  const { name, version } = parseArtifactRef(ref) ?? { name: ref, version: undefined };
  const ofName = artifacts.filter((artifact) => artifact.name === name);
  const found =
    version === undefined ? ofName.at(-1) : ofName.find((artifact) => artifact.version === version);
  if (found === undefined) throw noArtifact(ref, ofName, artifacts);
  const { sha256, sizeBytes } = found;
  return { path, sha256, sizeBytes, source: { artifact: formatArtifactRef(name, found.version) } };
}

function noArtifact(
  ref: string,
  ofName: readonly Artifact[],
  artifacts: readonly Artifact[],
): SkillmillError {
  const last = ofName.at(-1);
  const names = [...new Set(artifacts.map(({ name }) => name))];
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : '';
  const there =
    names.length === 0 ? 'has none' : `has ${names.slice(0, shownNames).join(', ')}${more}`;
  const why =
    last === undefined
      ? `is no artifact of this session, which ${there}`
      : `has no such version; the last one is ${last.version}`;
  return new SkillmillError('INPUT_INVALID', `${ref} ${why}.`, { details: { artifact: ref } });
}

function tooMuch(maxTotalBytes: number): SkillmillError {
  return new SkillmillError(
    'LIMIT_EXCEEDED',
    `The turn's files take more than ${maxTotalBytes / mebibyte} MiB together, which is what SKILLMILL_WORKSPACE_MAX_MB allows. Send fewer or smaller ones.`,
    { details: { limit: 'SKILLMILL_WORKSPACE_MAX_MB' } },
  );
}

/** One error for all faults, in the request's order: a mistake of the caller's counts most, after an infrastructure failure, which tries again. */
function asOne(faults: readonly InputFault[], files: readonly RequestedFile[]): SkillmillError {
  const passing = faults.find(({ error }) => error.failsAttempt);
  if (passing !== undefined) return passing.error;
  const place = new Map(files.map((file, index) => [file.path, index]));
  const placeOf = ({ path }: InputFault) => place.get(path) ?? 0;
  const inOrder = [...faults].sort((a, b) => placeOf(a) - placeOf(b));
  const worst =
    inOrder.find(({ error }) => error.code === 'INPUT_INVALID') ??
    inOrder.find(({ error }) => error.code === 'LIMIT_EXCEEDED') ??
    inOrder[0];
  const { code, details } = worst?.error ?? tooMuch(0);
  const told = inOrder.map(({ path, error }) => `work/inputs/${path}: ${error.message}`);
  return new SkillmillError(code, `Files of the turn cannot be had. ${told.join(' ')}`, {
    details: {
      ...details,
      faults: inOrder.map(({ path, error }) => ({ ...error.details, path, code: error.code })),
    },
    retryable: inOrder.every(({ error }) => error.retryable),
  });
}
