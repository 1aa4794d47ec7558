import { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { Artifact } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { SkillFile } from '../../shared/skills/skill.js';
import { parentsOf } from '../executor/check-entry.js';
import type { Sandbox, WorkspaceEntry, WorkspaceFile } from '../executor/executor.js';
import { readHostFiles } from './host-files.js';
import { InputRoom } from './input-room.js';
import {
  destinationOf,
  parseSource,
  wrong,
  type InputBase,
  type InputSource,
  type InputSpec,
} from './input-source.js';

/** Where inputs may come from, as one command may use it. */
export interface InputOrigins {
  readonly blobs: Pick<BlobStore, 'open'>;
  readonly artifacts: {
    find(name: string, version?: number): Artifact | undefined;
    names(): readonly string[];
  };
  /** Versions that the session keeps to. */
  readonly pins: {
    get(name: string): number | undefined;
    set(name: string, version: number): unknown;
  };
  /** Files of a skill that the turn may use. @throws SkillmillError SKILL_NOT_FOUND */
  readonly skillFiles: (name: string) => Promise<readonly SkillFile[]>;
  /** The skill whose folder stands in the workspace. */
  readonly stagedSkill: string;
  /** Folders of this machine that the operator allows. */
  readonly hostFolders: readonly string[];
}

/** What was put into the workspace for one input. */
export interface StagedInput {
  readonly src: string;
  readonly name: string;
  readonly size_bytes: number;
  readonly version?: number;
}

interface FoundFile {
  /** Below the destination; empty for the destination itself. */
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array;
}

interface Found {
  readonly files: readonly FoundFile[];
  /** Instead of the files: a path of the workspace that the destination links to. */
  readonly link?: string;
  readonly version?: number;
}

const listLimit = 10_000;

/** Puts a command's inputs into its workspace: all of them, or none. @throws SkillmillError TOOL_INPUT_INVALID, TOOL_FAILED,
 *  SKILL_NOT_FOUND, LIMIT_EXCEEDED, SANDBOX_UNAVAILABLE */
export async function stageInputs(
  sandbox: Sandbox,
  specs: readonly InputSpec[],
  runDir: string,
  origins: InputOrigins,
): Promise<readonly StagedInput[]> {
  if (specs.length === 0) return [];
  const base = { workspaceDir: sandbox.workspaceDir, runDir };
  const room = new InputRoom();
  const entries: WorkspaceEntry[] = [];
  const staged: StagedInput[] = [];
  const pinned: [string, number][] = [];
  for (const spec of specs) {
    const source = parseSource(spec.src, base);
    const name = destination(spec, source, base);
    if (staged.some((other) => other.name === name)) {
      throw wrong('dst', name, 'is the place of two inputs');
    }
    const found = await find(source, { spec, sandbox, room, origins });
    entries.push(...entriesOf(found, name));
    const version = found.version === undefined ? {} : { version: found.version };
    const size = found.files.reduce((sum, file) => sum + file.content.byteLength, 0);
    staged.push({ src: spec.src, name, size_bytes: size, ...version });
    if (spec.pin && source.kind === 'artifact' && found.version !== undefined) {
      pinned.push([source.name, found.version]);
    }
  }
  checkPlaces(entries);
  await sandbox.put(entries, 'command');
  for (const [name, version] of pinned) origins.pins.set(name, version);
  return staged;
}

function destination(spec: InputSpec, source: InputSource, base: InputBase): string {
  const own = source.kind === 'artifact' ? source.name : source.path;
  const name = posix.basename(own);
  return destinationOf(
    spec.dst,
    name === '' && source.kind === 'skill' ? source.skill : name,
    base,
  );
}

/** Refuses what could be put there in part only: an input below one that is no folder. */
function checkPlaces(entries: readonly WorkspaceEntry[]): void {
  const taken = new Set(entries.map(({ path }) => path));
  for (const { path } of entries) {
    const above = parentsOf(path).find((parent) => taken.has(parent));
    if (above !== undefined) throw wrong('dst', path, `is below ${above}, which is no folder`);
  }
}

function entriesOf(found: Found, name: string): WorkspaceEntry[] {
  if (found.link !== undefined) {
    if ([found.link, ...parentsOf(found.link)].includes(name) || name.startsWith(`${found.link}/`))
      throw wrong('dst', name, 'is above, below or the same as what it would link to');
    const target = posix.relative(posix.dirname(name), found.link);
    return [{ path: name, kind: 'symlink', mode: 0o777, target }];
  }
  return found.files.map(({ path, mode, content }) => ({
    path: posix.join(name, path),
    kind: 'file',
    mode,
    content,
  }));
}

interface Search {
  readonly spec: InputSpec;
  readonly sandbox: Sandbox;
  readonly room: InputRoom;
  readonly origins: InputOrigins;
}

async function find(source: InputSource, search: Search): Promise<Found> {
  switch (source.kind) {
    case 'artifact':
      return await artifactFile(source, search);
    case 'host': {
      const files = await readHostFiles(source.path, search.origins.hostFolders, search.room);
      if (files.length === 0) throw wrong('src', search.spec.src, 'holds no file');
      return { files: files.map((file) => ({ ...file, mode: modeOf(file) })) };
    }
    case 'workspace':
      return await workspaceFiles(source.path, search);
    case 'skill':
      return await skillFiles(source, search);
  }
}

async function artifactFile(
  source: Extract<InputSource, { kind: 'artifact' }>,
  { spec, room, origins }: Search,
): Promise<Found> {
  const { artifacts, pins, blobs } = origins;
  const version = source.version ?? (spec.pin ? pins.get(source.name) : undefined);
  const artifact = artifacts.find(source.name, version);
  if (artifact === undefined) throw noArtifact(spec.src, source.name, artifacts);
  room.take(artifact.sizeBytes);
  try {
    const content = await buffer(await blobs.open(artifact.sha256));
    return { files: [{ path: '', mode: 0o644, content }], version: artifact.version };
  } catch (error) {
    if (!(error instanceof SkillmillError) || error.code !== 'BLOB_UNAVAILABLE') throw error;
    throw new SkillmillError('TOOL_FAILED', `${artifact.ref} cannot be read: ${error.message}`);
  }
}

function noArtifact(
  src: string,
  name: string,
  artifacts: InputOrigins['artifacts'],
): SkillmillError {
  const last = artifacts.find(name);
  if (last !== undefined)
    return wrong('src', src, `has no such version; the last one is ${last.version}`);
  const names = artifacts.names();
  const there = names.length === 0 ? 'it has none' : `it has ${names.slice(0, 20).join(', ')}`;
  return wrong('src', src, `is no artifact of this session; ${there}`);
}

async function workspaceFiles(path: string, { spec, sandbox, room }: Search): Promise<Found> {
  const found = await filesAt(path, sandbox);
  if (found.length === 0) throw wrong('src', spec.src, 'names no regular file of the workspace');
  if (spec.mode === 'link') return { files: [], link: path };
  for (const file of found) room.take(file.sizeBytes);
  const files: FoundFile[] = [];
  for await (const file of sandbox.read(found.map((each) => each.path))) {
    if ('error' in file) throw wrong('src', spec.src, `cannot be read: ${file.error}`);
    const content = await buffer(file.content);
    files.push({ path: posix.relative(path, file.path), mode: 0o644, content });
  }
  return { files };
}

/** The file or the files of the folder that stands there. What stands beside it must not push it out of the listing. */
async function filesAt(path: string, sandbox: Sandbox): Promise<readonly WorkspaceFile[]> {
  const parent = posix.dirname(path);
  const around = await sandbox.list([parent === '.' ? path : parent], listLimit);
  if (around.truncated) {
    const { files } = await sandbox.list([path], listLimit);
    if (files.length > 0) return files;
  }
  return around.files.filter((file) => isAtOrBelow(file.path, path));
}

async function skillFiles(
  { skill, path }: Extract<InputSource, { kind: 'skill' }>,
  { spec, room, origins }: Search,
): Promise<Found> {
  const all = await origins.skillFiles(skill);
  const found = all.filter((file) => path === '' || isAtOrBelow(file.path, path));
  if (found.length === 0) throw wrong('src', spec.src, 'names no file of the skill');
  if (spec.mode === 'link' && skill === origins.stagedSkill) {
    return { files: [], link: posix.join('skills', skill, path) };
  }
  for (const file of found) room.take(file.content.byteLength);
  return {
    files: found.map((file) => ({
      path: posix.relative(path, file.path),
      mode: modeOf(file),
      content: file.content,
    })),
  };
}

function isAtOrBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

function modeOf({ executable }: { readonly executable: boolean }): number {
  return executable ? 0o755 : 0o644;
}
