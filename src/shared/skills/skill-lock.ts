import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { z } from 'zod';
import { describeFaults, inputFaults, type InputFault } from '../errors/describe-issues.js';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';
import { quoted } from './skill-diagnostic.js';
import type { Skill } from './skill.js';
import { compareText } from './tree-file.js';

/** What a lock knows of a skill, and what is compared with it. */
export type LockedSkill = Pick<Skill, 'name' | 'digest'>;

/** The digest of every skill as an operator accepted it, by name. */
export interface SkillLock {
  readonly digests: ReadonlyMap<string, string>;
}

/** How the skills of the roots differ from a lock, each list sorted by name. */
export interface LockDifferences {
  readonly changed: readonly { name: string; locked: string; found: string }[];
  /** In the lock and in no root. */
  readonly missing: readonly { name: string; locked: string }[];
  /** In a root and not in the lock. */
  readonly extra: readonly { name: string; found: string }[];
}

/** The lock of these skills. */
export function lockOf(skills: readonly LockedSkill[]): SkillLock {
  return { digests: new Map(skills.map(({ name, digest }) => [name, digest])) };
}

/** Why a frozen worker refuses this skill (one sentence, without paths: a model may see it), or undefined when it is the one that was locked. */
export function lockFaults(lock: SkillLock, skill: LockedSkill): string | undefined {
  const locked = lock.digests.get(skill.name);
  if (locked === skill.digest) return undefined;
  return locked === undefined
    ? `skill ${quoted(skill.name)} is not in the skills lock, and only locked skills may be used.`
    : `skill ${quoted(skill.name)} is not as it was locked: its digest is ${short(skill.digest)}, the skills lock says ${short(locked)}.`;
}

/** Every skill that is changed, missing or extra against the lock. */
export function compareWithLock(lock: SkillLock, skills: readonly LockedSkill[]): LockDifferences {
  const sorted = [...skills].sort((a, b) => compareText(a.name, b.name));
  const names = new Set(skills.map(({ name }) => name));
  return {
    changed: sorted.flatMap(({ name, digest: found }) => {
      const locked = lock.digests.get(name);
      return locked === undefined || locked === found ? [] : [{ name, locked, found }];
    }),
    missing: inOrder(lock).flatMap(([name, locked]) => (names.has(name) ? [] : [{ name, locked }])),
    extra: sorted.flatMap(({ name, digest: found }) =>
      lock.digests.has(name) ? [] : [{ name, found }],
    ),
  };
}

/** Does nothing differ? */
export function isAsLocked({ changed, missing, extra }: LockDifferences): boolean {
  return changed.length + missing.length + extra.length === 0;
}

/** A lock as the bytes of its file: the same for the same skills, a line that changes per skill that changes. */
export function lockText(lock: SkillLock): string {
  const skills = Object.fromEntries(inOrder(lock).map(([name, digest]) => [name, { digest }]));
  return `${JSON.stringify({ version: lockVersion, skills }, null, 2)}\n`;
}

/** Reads a lock. @throws SkillmillError CONFIG_INVALID when it is not there or not a lock, all faults at once */
export async function readSkillLock(path: string): Promise<SkillLock> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const why = isMissing(cause) ? 'does not exist' : `cannot be read: ${errorMessage(cause)}`;
    throw unusable(path, `${why}; write it with \`skillmill skills lock\``);
  });
  return parseLock(path, text);
}

/** Writes a lock in one step: whoever reads meanwhile sees the old file or the new one; false when the file held just that. @throws SkillmillError CONFIG_INVALID */
export async function writeSkillLock(path: string, lock: SkillLock): Promise<boolean> {
  const text = lockText(lock);
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return false;
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeSynced(temporary, text);
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unusable(path, `cannot be written: ${errorMessage(cause)}`);
  }
  return true;
}

const lockVersion = 1;

const lockFile = z.strictObject({
  version: z.literal(lockVersion, `must be ${lockVersion}, the only one that this version reads`),
  // Not a record: zod leaves out the key `__proto__`, which a skill may have for a name.
  skills: z.custom<object>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object of skills by name',
  ),
});

const lockEntry = z.strictObject({
  digest: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex'),
});

function parseLock(path: string, text: string): SkillLock {
  const file = lockFile.safeParse(parseJson(path, text));
  if (!file.success) throw unusable(path, `is no lock: ${describeFaults(inputFaults(file.error))}`);
  const digests = new Map<string, string>();
  const faults: InputFault[] = [];
  for (const [name, value] of Object.entries(file.data.skills)) {
    const entry = lockEntry.safeParse(value);
    if (entry.success) digests.set(name, entry.data.digest);
    else faults.push(...inputFaults(entry.error).map((fault) => below(name, fault)));
  }
  if (faults.length > 0) throw unusable(path, `is no lock: ${describeFaults(faults)}`);
  return { digests };
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the file, which may hold anything.
    throw unusable(path, 'is not JSON; write it anew with `skillmill skills lock`');
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function below(name: string, fault: InputFault): InputFault {
  const path = `skills[${quoted(name)}]`;
  return { ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` };
}

function inOrder(lock: SkillLock): [name: string, digest: string][] {
  return [...lock.digests].sort(([a], [b]) => compareText(a, b));
}

function short(digest: string): string {
  return digest.slice(0, 12);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function unusable(path: string, why: string): SkillmillError {
  return new SkillmillError('CONFIG_INVALID', `The skills lock ${path} ${why}.`);
}
