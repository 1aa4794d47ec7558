import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareWithLock,
  isAsLocked,
  lockFaults,
  lockOf,
  lockText,
  readSkillLock,
  writeSkillLock,
} from '../../../src/shared/skills/skill-lock.js';
import { tempDir } from '../../support/temp-dir.js';

const digestA = 'a'.repeat(64);
const digestB = 'b'.repeat(64);
const skill = (name: string, digest = digestA) => ({ name, digest });

describe('the file', () => {
  it('is these bytes', () => {
    expect(lockText(lockOf([skill('beta', digestB), skill('alpha')]))).toBe(
      `{\n  "version": 1,\n  "skills": {\n    "alpha": {\n      "digest": "${digestA}"\n    },\n    "beta": {\n      "digest": "${digestB}"\n    }\n  }\n}\n`,
    );
  });

  it('comes back as it was written, whatever the names, in the same bytes for any order', async () => {
    const path = join(await tempDir(), 'lock.json');
    const name = fc.oneof(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.constantFrom('__proto__', 'constructor', '10', '9', 'Ä b'),
    );
    const digest = fc.constantFrom(digestA, digestB);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, digest, { noNullPrototype: true }), async (entries) => {
        const skills = Object.entries(entries).map(([key, value]) => skill(key, value));
        const lock = lockOf(skills);
        await writeSkillLock(path, lock);
        expect(await readSkillLock(path)).toEqual(lock);
        expect(lockText(lockOf(skills.toReversed()))).toBe(lockText(lock));
      }),
      { numRuns: 50 },
    );
  });

  it('keeps a skill that is named __proto__', async () => {
    const path = join(await tempDir(), 'lock.json');
    await writeSkillLock(path, lockOf([skill('__proto__')]));
    const lock = await readSkillLock(path);
    expect(lockFaults(lock, skill('__proto__'))).toBeUndefined();
    expect(lockFaults(lock, skill('toString'))).toContain('not in the skills lock');
  });

  it('is written in one step, and not at all when nothing changed', async () => {
    const dir = await tempDir();
    const path = join(dir, 'lock.json');
    expect(await writeSkillLock(path, lockOf([skill('a')]))).toBe(true);
    const before = await stat(path);
    expect(await writeSkillLock(path, lockOf([skill('a')]))).toBe(false);
    expect((await stat(path)).ino).toBe(before.ino);
    expect(await writeSkillLock(path, lockOf([]))).toBe(true);
    expect((await stat(path)).ino).not.toBe(before.ino);
    expect(await readFile(path, 'utf8')).toBe('{\n  "version": 1,\n  "skills": {}\n}\n');
    expect(await readdir(dir)).toEqual(['lock.json']);
  });

  it('leaves nothing behind where it cannot be written', async () => {
    const dir = await tempDir();
    await mkdir(join(dir, 'taken'));
    await expect(writeSkillLock(join(dir, 'taken'), lockOf([]))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
    await expect(writeSkillLock(join(dir, 'no/lock.json'), lockOf([]))).rejects.toThrow(
      /cannot be written/,
    );
    expect(await readdir(dir)).toEqual(['taken']);
  });
});

describe('reading what is no lock', () => {
  it.each([
    ['', 'is not JSON'],
    ['<<<<<<< ours\n{}', 'is not JSON'],
    ['[]', 'is no lock'],
    ['null', 'is no lock'],
    ['{"version":1}', 'skills: must be an object'],
    ['{"version":1,"skills":[]}', 'skills: must be an object'],
    ['{"version":2,"skills":{}}', 'version: must be 1'],
    ['{"version":1,"skills":{},"more":1}', 'more: is not a known field'],
    [
      '{"version":1,"skills":{"x":"y","z":{"digest":"AB"}}}',
      'skills["z"].digest: must be a SHA-256',
    ],
    ['{"version":1,"skills":{"x":"y","z":{"digest":"AB"}}}', 'skills["x"]: '],
    [`{"version":1,"skills":{"x":{"digest":"${digestA}\\n"}}}`, 'skills["x"].digest'],
  ])('%j', async (text, said) => {
    const path = join(await tempDir(), 'lock.json');
    await writeFile(path, text);
    const reading = readSkillLock(path);
    await expect(reading).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(reading).rejects.toThrow(said);
    await expect(reading).rejects.toThrow(path);
  });

  it('says how to make one when there is none, and what is wrong with a folder or a link to nowhere', async () => {
    const dir = await tempDir();
    await expect(readSkillLock(join(dir, 'lock.json'))).rejects.toThrow(
      /does not exist; write it with `skillmill skills lock`/,
    );
    await expect(readSkillLock(dir)).rejects.toThrow(/cannot be read: EISDIR/);
    await symlink('nowhere', join(dir, 'link'));
    await expect(readSkillLock(join(dir, 'link'))).rejects.toThrow(/does not exist/);
  });
});

describe('a frozen worker', () => {
  const lock = lockOf([skill('a'), skill('b', digestB)]);
  it('takes a skill that is as it was locked', () => {
    expect(lockFaults(lock, skill('b', digestB))).toBeUndefined();
  });
  it('refuses one that changed, with both digests', () => {
    expect(lockFaults(lock, skill('a', digestB))).toBe(
      'skill "a" is not as it was locked: its digest is bbbbbbbbbbbb, the skills lock says aaaaaaaaaaaa.',
    );
  });
  it('refuses one that was never locked, also under a name that differs in case', () => {
    expect(lockFaults(lock, skill('A'))).toBe(
      'skill "A" is not in the skills lock, and only locked skills may be used.',
    );
  });
  it('takes none with an empty lock', () => {
    expect(lockFaults(lockOf([]), skill('a'))).toContain('not in the skills lock');
  });
});

describe('comparing', () => {
  it('names what changed, what is missing and what is extra, sorted', () => {
    const lock = lockOf([skill('z'), skill('same'), skill('gone'), skill('c')]);
    const found = [skill('z', digestB), skill('c', digestB), skill('same'), skill('new')];
    expect(compareWithLock(lock, found)).toEqual({
      changed: [
        { name: 'c', locked: digestA, found: digestB },
        { name: 'z', locked: digestA, found: digestB },
      ],
      missing: [{ name: 'gone', locked: digestA }],
      extra: [{ name: 'new', found: digestA }],
    });
  });

  it('finds no difference exactly when no skill is refused and none is missing', () => {
    const skills = fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(digestA, digestB))
      .map((entries) => Object.entries(entries).map(([name, digest]) => skill(name, digest)));
    fc.assert(
      fc.property(skills, skills, (locked, found) => {
        const lock = lockOf(locked);
        const isFine =
          locked.length === found.length && found.every((each) => !lockFaults(lock, each));
        expect(isAsLocked(compareWithLock(lock, found))).toBe(isFine);
      }),
    );
  });
});
