import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArtifactRef, type FileInput } from '../../shared/contracts/index.js';
import { shownUrl } from '../../shared/download/shown-url.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';

/** The files that `--file SRC[:DEST]` names. A URL or an artifact is for the worker to fetch. @throws SkillmillError INPUT_INVALID naming every file that cannot be read */
export async function readFiles(specs: readonly string[]): Promise<FileInput[]> {
  const outcomes = await Promise.allSettled(specs.map(readOneFile));
  const faults = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [errorMessage(outcome.reason)] : [],
  );
  if (faults.length > 0) {
    throw new SkillmillError('INPUT_INVALID', `Files could not be read: ${faults.join('; ')}.`);
  }
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

async function readOneFile(spec: string): Promise<FileInput> {
  if (/^https?:\/\//i.test(spec)) return urlFile(spec);
  if (/^artifact:\/\//.test(spec)) return artifactFile(spec);
  const { source, destination } = await splitFileSpec(spec);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(spec) && !(await isFile(source))) {
    throw new Error(`${shownUrl(spec)}: only http, https and artifact URLs can be fetched`);
  }
  const bytes = await readFile(source).catch((error: unknown) => {
    throw new Error(`${source}: ${fileFault(error)}`);
  });
  return { path: destination ?? basename(source), base64: bytes.toString('base64') };
}

/** The last colon behind host and port begins DEST; a URL with one of its own needs a DEST. */
function urlFile(spec: string): FileInput {
  const path = spec.slice(spec.indexOf('://') + 3).search(/[/?#]/);
  const { source, destination } = splitAt(
    spec,
    path < 0 ? spec.length : spec.indexOf('://') + 3 + path,
  );
  const named = destination ?? lastSegment(source);
  if (named === '') {
    throw new Error(`${shownUrl(source)}: the URL ends in no name; add one, as in URL:NAME`);
  }
  return { path: named, url: source };
}

/** The file's name at the end of a URL's path. */
function lastSegment(url: string): string {
  if (!URL.canParse(url)) return '';
  const segment = basename(new URL(url).pathname);
  try {
    return basename(decodeURIComponent(segment));
  } catch {
    return segment;
  }
}

function artifactFile(spec: string): FileInput {
  const { source, destination } = splitAt(spec, 'artifact://'.length);
  const name = parseArtifactRef(source)?.name ?? source;
  return { path: destination ?? basename(name), artifact: source };
}

interface FileSpec {
  readonly source: string;
  readonly destination?: string;
}

/** Splits at the last colon, if that stands behind `from`. */
function splitAt(spec: string, from: number): FileSpec {
  const colon = spec.lastIndexOf(':');
  if (colon <= from) return { source: spec };
  return { source: spec.slice(0, colon), destination: spec.slice(colon + 1) };
}

function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EISDIR' ? 'is a folder; give its files one by one' : errorMessage(error);
}

/** `SRC:DEST`, but a file whose own name has a colon is taken as it is. */
async function splitFileSpec(spec: string): Promise<FileSpec> {
  return (await isFile(spec)) ? { source: spec } : splitAt(spec, 0);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
