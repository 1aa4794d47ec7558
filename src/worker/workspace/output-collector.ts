import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { BlobInfo, BlobStore } from '../../shared/blobs/blob-store.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { FileListing, Sandbox, WorkspaceFile } from '../executor/executor.js';
import { matchGlobs } from './match-globs.js';
import { mediaTypeOf } from './media-type.js';
import {
  expandWorkspaceVariables,
  globInside,
  isGlob,
  topFolders,
  workspaceFolders,
} from './workspace-path.js';

/** What is asked for after a command. */
export interface CollectRequest {
  /** Globs relative to the workspace, `$OUTPUT_DIR` and its kin understood; none: what the command changed under `out/`. */
  readonly globs: readonly string[];
  readonly limits?: CollectLimits | undefined;
  readonly runDir: string;
  /** True when out/ is known to be empty: nothing has to be looked for there. */
  readonly leftNothing: boolean;
  readonly isChanged: (path: string, fingerprint: string) => boolean;
  /** Is this file to be kept as a blob? */
  readonly keep: (path: string) => boolean;
}

/** Limits that are lower than our own; absent ones, and higher ones, are ours. */
export interface CollectLimits {
  readonly files?: number | undefined;
  readonly fileBytes?: number | undefined;
  readonly totalBytes?: number | undefined;
}

/** A file that a command left, as far as it was read. */
export interface CollectedFile {
  /** Relative to the workspace. */
  readonly name: string;
  readonly mimeType: string;
  readonly isText: boolean;
  readonly sizeBytes: number;
  /** The first bytes, at most `inlineLimitBytes`. */
  readonly head: Buffer;
  /** Where its bytes are kept, when they are. */
  readonly blob: BlobInfo | undefined;
}

/** What was collected after a command. */
export interface Collection {
  readonly files: readonly CollectedFile[];
  /** Was something left out because of a limit? */
  readonly limitsHit: boolean;
  readonly warnings: readonly string[];
}

/** Limits as in tRPC-Agent, but for the inline text, which is bounded so that one file cannot fill a model's context. */
export const inlineLimitBytes = 32 * 1024;
const autoCollectFiles = 20;
const globCollectFiles = 100;
const fileLimitBytes = 64 * 1024 * 1024;
const totalLimitBytes = 64 * 1024 * 1024;
/** All names of one command: each is told several times, and a path may have 4096 bytes. */
const nameLimitBytes = 16 * 1024;
const listLimit = 10_000;
const shownWarnings = 20;

/** Picks and reads the files that a command left. What cannot be had is a warning, never a failed turn.
 *  @throws the reason of the sandbox's signal; SkillmillError SANDBOX_UNAVAILABLE */
export async function collectOutputs(
  sandbox: Sandbox,
  blobs: BlobStore,
  request: CollectRequest,
): Promise<Collection> {
  const warnings: string[] = [];
  const patterns = usablePatterns(sandbox, request, warnings);
  const isAuto = request.globs.length === 0;
  if (isAuto && request.leftNothing) return { files: [], warnings: [], limitsHit: false };
  const listing = await sandbox.list(foldersOf(patterns), listLimit);
  warnings.push(...listingWarnings(listing));
  // Every file is looked at, so that each is known to the next command's question.
  const changed = listing.files.filter((file) => request.isChanged(file.path, file.fingerprint));
  const wanted = isAuto
    ? changed.filter((file) => file.path.startsWith(`${workspaceFolders.OUTPUT_DIR}/`))
    : matchGlobs(listing.files, patterns, warnings);
  const limits = limitsOf(request.limits ?? {}, isAuto ? autoCollectFiles : globCollectFiles);
  const chosen = withinLimits(wanted, limits, warnings);
  const files: CollectedFile[] = [];
  for await (const file of sandbox.read(chosen.map(({ path }) => path))) {
    if ('error' in file) warnings.push(`${show(file.path)} was not collected: ${file.error}`);
    else files.push(await readOne(file, request.keep(file.path) ? blobs : undefined, warnings));
  }
  const limitsHit = chosen.length < wanted.length || listing.truncated;
  return { files, limitsHit, warnings: bounded(warnings) };
}

/** What a model is told must not grow with what a command left. */
function bounded(warnings: readonly string[]): readonly string[] {
  if (warnings.length <= shownWarnings) return warnings;
  const more = warnings.length - shownWarnings;
  return [...warnings.slice(0, shownWarnings), `and ${more} more warnings`];
}

function usablePatterns(
  sandbox: Sandbox,
  request: CollectRequest,
  warnings: string[],
): readonly string[] {
  return request.globs.flatMap((glob) => {
    const expanded = expandWorkspaceVariables(glob, request.runDir);
    const path = globInside(expanded, sandbox.workspaceDir);
    if (path !== undefined) return [path];
    warnings.push(
      `output_files ${show(glob)} is outside skills/, work/, out/ and runs/; nothing was collected for it`,
    );
    return [];
  });
}

/** `out` is always looked at, since what a command leaves there is its output. */
function foldersOf(patterns: readonly string[]): readonly string[] {
  const tops = patterns.map((pattern) => pattern.split('/')[0] ?? '');
  const isAsked = (folder: string) => tops.some((top) => top === folder || isGlob(top));
  return topFolders.filter((folder) => folder === workspaceFolders.OUTPUT_DIR || isAsked(folder));
}

function limitsOf(given: CollectLimits, files: number): NumberLimits {
  return {
    files: Math.min(given.files ?? files, globCollectFiles),
    fileBytes: Math.min(given.fileBytes ?? fileLimitBytes, fileLimitBytes),
    totalBytes: Math.min(given.totalBytes ?? totalLimitBytes, totalLimitBytes),
  };
}

type NumberLimits = Record<keyof CollectLimits, number>;

function withinLimits(
  files: readonly WorkspaceFile[],
  { files: limit, fileBytes, totalBytes }: NumberLimits,
  warnings: string[],
): readonly WorkspaceFile[] {
  const fitting = files.filter((file) => file.sizeBytes <= fileBytes);
  for (const file of files) {
    if (file.sizeBytes > fileBytes) {
      warnings.push(
        `${show(file.path)} was not collected: ${file.sizeBytes} bytes, over the limit of ${fileBytes}`,
      );
    }
  }
  let room = totalBytes;
  let nameRoom = nameLimitBytes;
  const taken = fitting.slice(0, limit).filter((file) => {
    const nameBytes = Buffer.byteLength(file.path);
    const fits = file.sizeBytes <= room && nameBytes <= nameRoom;
    if (!fits) return false;
    room -= file.sizeBytes;
    nameRoom -= nameBytes;
    return true;
  });
  if (taken.length < fitting.length) {
    warnings.push(
      `${fitting.length - taken.length} more files were not collected: the limit is ${limit} files, ${totalBytes} bytes and ${nameLimitBytes} bytes of names a command`,
    );
  }
  return taken;
}

function listingWarnings(listing: FileListing): string[] {
  const skipped = listing.skipped.map(({ path, reason }) => `${show(path)} was skipped: ${reason}`);
  const cut = `only the first ${listLimit} files were looked at`;
  return listing.truncated ? [...skipped, cut] : skipped;
}

async function readOne(
  file: { readonly path: string; readonly content: Readable },
  blobs: BlobStore | undefined,
  warnings: string[],
): Promise<CollectedFile> {
  const { path: name } = file;
  const head = new Head();
  const bytes = head.watch(file.content);
  const blob = blobs === undefined ? undefined : await keep(name, bytes, { blobs, warnings });
  // What nobody stored is read to its end all the same: the next file comes behind it.
  if (blob === undefined) await finished(Readable.from(bytes).resume());
  const { content, sizeBytes } = head;
  const type = mediaTypeOf(name, content, sizeBytes === content.byteLength);
  return { name, sizeBytes, head: content, blob, ...type };
}

/** Stores a file's bytes; a store that cannot take them costs the file, not the turn. */
async function keep(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  { blobs, warnings }: { readonly blobs: BlobStore; readonly warnings: string[] },
): Promise<BlobInfo | undefined> {
  try {
    return await blobs.put(bytes);
  } catch (error) {
    if (!(error instanceof SkillmillError) || error.code !== 'BLOB_UNAVAILABLE') throw error;
    warnings.push(`${show(name)} was not kept: ${error.message}`);
    return undefined;
  }
}

/** Remembers the first bytes of what passes by, and counts all of them. */
class Head {
  sizeBytes = 0;
  readonly #chunks: Uint8Array[] = [];

  get content(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  async *watch(content: Readable): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      const bytes = Buffer.from(chunk);
      const room = inlineLimitBytes - this.sizeBytes;
      if (room > 0) this.#chunks.push(bytes.subarray(0, room));
      this.sizeBytes += bytes.byteLength;
      yield bytes;
    }
  }
}

function show(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}

/** For a collection that failed as a whole though its command ended: the command's own result is not lost. */
export function collectionFailed(error: unknown): Collection {
  return {
    files: [],
    limitsHit: false,
    warnings: [`the command's files could not be collected: ${errorMessage(error)}`],
  };
}
