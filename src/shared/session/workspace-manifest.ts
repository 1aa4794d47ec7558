import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import { sha256Schema } from '../contracts/index.js';
import { SkillmillError } from '../errors/skillmill-error.js';

const common = {
  path: z.string().min(1),
  /** Permission bits. */
  mode: z.int().min(0).max(0o7777),
  /** Seconds since 1970, with nine digits behind the point: more than a number holds. */
  mtime: z.string().regex(/^-?\d+\.\d{9}$/),
};

const fileSchema = z.object({
  kind: z.literal('file'),
  ...common,
  sizeBytes: z.int().min(0),
  /** The blob that holds its bytes, and where in it they begin: small files share one. */
  blob: sha256Schema,
  offset: z.int().min(0),
});
const directorySchema = z.object({ kind: z.literal('directory'), ...common });
const symlinkSchema = z.object({ kind: z.literal('symlink'), ...common, target: z.string() });

const entrySchema = z.discriminatedUnion('kind', [fileSchema, directorySchema, symlinkSchema]);
export type ManifestEntry = z.infer<typeof entrySchema>;
export type ManifestFile = z.infer<typeof fileSchema>;

const manifestSchema = z.object({
  format: z.literal(1),
  /** Sorted by path, so that a folder stands before what is in it. */
  entries: z.array(entrySchema),
  /** Size of every blob that an entry names. */
  blobs: z.record(sha256Schema, z.int().min(0)),
  /** What could not be kept, each with a reason that a user understands. */
  leftOut: z.array(z.object({ path: z.string(), reason: z.string() })),
});
/** The files of a session's workspace: all of `work/`, `out/`, `runs/` and the skills' `.venv/`. */
export type WorkspaceManifest = z.infer<typeof manifestSchema>;

export const emptyManifest: WorkspaceManifest = { format: 1, entries: [], blobs: {}, leftOut: [] };

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** A manifest as a blob keeps it: gzip of JSON, the same bytes for the same files. */
export async function encodeManifest(manifest: WorkspaceManifest): Promise<Buffer> {
  return await zip(JSON.stringify(manifest), { level: 1 });
}

/** @throws SkillmillError BLOB_CORRUPT */
export async function decodeManifest(bytes: Buffer): Promise<WorkspaceManifest> {
  try {
    return manifestSchema.parse(JSON.parse((await unzip(bytes)).toString('utf8')));
  } catch (cause) {
    const sentence =
      'The list of the session’s files cannot be read; another version of skillmill may have written it.';
    throw new SkillmillError('BLOB_CORRUPT', sentence, { cause });
  }
}

/** How many files a manifest holds, and their bytes together. */
export function manifestTotals({ entries }: WorkspaceManifest): {
  files: number;
  sizeBytes: number;
} {
  const files = entries.filter((entry) => entry.kind === 'file');
  return { files: files.length, sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0) };
}
