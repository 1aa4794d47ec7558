import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../errors/skillmill-error.js';
import { maxSkillFileBytes, parseSkill, reportTooLarge } from './parse-skill.js';
import { DiagnosticList } from './skill-diagnostic.js';
import { sha256, treeDigest, type DigestedFile } from './skill-digest.js';
import { docsOf } from './skill-docs.js';
import type { SkillPackStore } from './skill-pack-store.js';
import type { FoundSkill } from './skill-tree.js';
import { maxSkillBytes, type TreeFile } from './tree-file.js';
import type { Skill, SkillDiagnostic, SkillFile, SkillManifest } from './skill.js';
import { decodeText } from './source-text.js';

// A file that changed again within the clock tick in which it was read would look unchanged.
const settleMs = 100;

// Of a small file the four system calls take less time than four trips to the thread pool; thousands of skills show it.
const maxDirectBytes = 64 * 1024;

/** One skill folder, read; kept until its files look different. */
export interface IndexedSkill {
  readonly skill: Skill | undefined;
  readonly diagnostics: readonly SkillDiagnostic[];
  readonly fingerprint: string;
  /** False when a file changed so shortly before it was read that a later change might not show. */
  readonly isSettled: boolean;
}

/** A short text that changes whenever a file of the skill is added, changed or removed (by stat, not by content). */
export function fingerprintOf(found: FoundSkill): string {
  const hash = createHash('sha256');
  for (const file of found.files) hash.update(`${JSON.stringify(file.path)} ${file.stamp}\n`);
  return hash.digest('base64');
}

/** Reads one skill folder and packs its files; a skill that cannot be understood has only diagnostics. */
export async function indexSkill(found: FoundSkill, packs: SkillPackStore): Promise<IndexedSkill> {
  const startedAt = Date.now();
  const seen = {
    fingerprint: fingerprintOf(found),
    isSettled: found.files.every((file) => file.changedAt < startedAt - settleMs),
  };
  const { source, manifest, diagnostics } = await readManifest(found);
  if (!manifest || !source) return { skill: undefined, diagnostics, ...seen };

  const read: ReadFiles = { digested: [], unreadable: new Set() };
  await packs.write(readFiles(found, source, read), () => treeDigest(read.digested));
  const problems = [...diagnostics];
  const problemsAt = (path: string): DiagnosticList =>
    new DiagnosticList(join(found.shown, path), problems);
  for (const path of read.unreadable) {
    problemsAt(path).warn('file-unreadable', 'The file cannot be read; it is left out.');
  }
  const readable = found.files.filter((file) => !read.unreadable.has(file.path));
  const docs = docsOf(readable, problemsAt);
  const skill = { ...manifest, dir: found.dir, digest: treeDigest(read.digested), docs };
  return { skill, diagnostics: problems, ...seen };
}

/** The SKILL.md of a skill folder, parsed; `source` is its bytes, absent when they could not be read. */
export async function readManifest(found: FoundSkill): Promise<ReadManifest> {
  const file = join(found.shown, 'SKILL.md');
  const problems = new DiagnosticList(file);
  const skillFile = found.files.find(({ path }) => path === 'SKILL.md');
  if (found.diagnostics.some(({ severity }) => severity === 'error')) {
    return { source: undefined, manifest: undefined, diagnostics: [] };
  }
  if (!skillFile || skillFile.bytes > maxSkillFileBytes) {
    if (skillFile) reportTooLarge(problems, skillFile.bytes);
    return { source: undefined, manifest: undefined, diagnostics: problems.all };
  }
  let source: Uint8Array;
  try {
    source = await readTreeFile(found.dir, skillFile);
  } catch (thrown) {
    problems.error('skill-file-unreadable', `The file cannot be read: ${errorMessage(thrown)}.`);
    return { source: undefined, manifest: undefined, diagnostics: problems.all };
  }
  const { text, valid } = decodeText(source);
  if (!valid)
    problems.warn(
      'skill-file-encoding',
      'The file is not valid UTF-8; what is not was replaced by U+FFFD.',
      1,
    );
  const { manifest, diagnostics } = parseSkill({ text, folderName: found.folderName, file });
  return { source, manifest, diagnostics: [...problems.all, ...diagnostics] };
}

/** What `readManifest` found. */
export interface ReadManifest {
  readonly source: Uint8Array | undefined;
  readonly manifest: SkillManifest | undefined;
  readonly diagnostics: readonly SkillDiagnostic[];
}

interface ReadFiles {
  readonly digested: DigestedFile[];
  readonly unreadable: Set<string>;
}

/** The files of a skill one by one; SKILL.md is the bytes that were parsed, so that the digest stands for what was read. */
async function* readFiles(
  found: FoundSkill,
  source: Uint8Array,
  read: ReadFiles,
): AsyncGenerator<SkillFile> {
  for (const file of found.files) {
    const { path, executable } = file;
    const content =
      path === 'SKILL.md' ? source : await readTreeFile(found.dir, file).catch(() => undefined);
    if (content === undefined) {
      read.unreadable.add(path);
      continue;
    }
    read.digested.push({ path, executable, sha256: sha256(content) });
    yield { path, executable, content };
  }
}

/** Reads a file that the walk saw as a regular one; what has become a link or a device since is refused, and opening never blocks on a FIFO. */
async function readTreeFile(dir: string, file: TreeFile): Promise<Uint8Array> {
  const path = join(dir, file.path);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  if (file.bytes <= maxDirectBytes) return readSmallFile(path, flags);
  const handle = await open(path, flags);
  try {
    checkRegular(await handle.stat());
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function readSmallFile(path: string, flags: number): Uint8Array {
  const descriptor = openSync(path, flags);
  try {
    checkRegular(fstatSync(descriptor));
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function checkRegular(stats: Stats): void {
  if (stats.isFile() && stats.size <= maxSkillBytes) return;
  throw new Error('it is no longer a regular file of the size seen');
}
