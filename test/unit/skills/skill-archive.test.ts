import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultTenant, tenantSchema } from '../../../src/shared/contracts/index.js';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { sha256 } from '../../../src/shared/skills/skill-digest.js';
import type { Skill } from '../../../src/shared/skills/skill.js';
import { openPinnedSkills } from '../../../src/worker/skills/pinned-skills.js';
import { SkillArchive } from '../../../src/worker/skills/skill-archive.js';
import { openTurnSkills } from '../../../src/worker/skills/turn-skills.js';
import { makeSkillFolder, skillText, type SkillFolder } from './skill-folder.js';

let folder: SkillFolder;
beforeEach(async () => {
  folder = await makeSkillFolder();
});
afterEach(() => folder.remove());

/** Blobs in memory, and what was done with them. */
function openBlobs() {
  const kept = new Map<string, Buffer>();
  const puts: string[] = [];
  const notes: string[] = [];
  return {
    ...{ kept, puts, notes },
    put: async (source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => {
      const bytes = await buffer(Readable.from(source));
      const name = sha256(bytes);
      kept.set(name, bytes);
      puts.push(name);
      return { sha256: name, sizeBytes: bytes.byteLength };
    },
    open: (name: string) => {
      const bytes = kept.get(name);
      return bytes === undefined
        ? Promise.reject(new SkillmillError('BLOB_NOT_FOUND', 'gone'))
        : Promise.resolve(Readable.from([bytes]));
    },
    note: (name: string) => Promise.resolve(void notes.push(name)),
  };
}

const { signal } = new AbortController();

/** The skill `a` of the folder as it is now, kept in an archive. */
async function keepSkill() {
  await folder.putSkill('a', skillText('a', 'first'));
  await folder.put('a/guide.md', 'in __BASE_DIR__');
  const snapshot = await folder.openRepository(folder.root).snapshot();
  const blobs = openBlobs();
  const archive = new SkillArchive();
  const readFiles = () => snapshot.readFiles('a');
  const skill = snapshot.get('a');
  if (skill === undefined) throw new Error('no skill');
  const keep = (tenant = defaultTenant) =>
    archive.keep(tenant, skill, { readFiles, blobs, signal });
  return { skill, blobs, archive, keep };
}

const pinOf = ({ digest }: Skill, pack?: string) => ({
  ...{ name: 'a', digest, used: true },
  ...(pack === undefined ? {} : { pack }),
});
const skillsHere = async () => openTurnSkills(await folder.openRepository(folder.root).snapshot());

describe('the archive of skills', () => {
  it('puts a skill once for a tenant, and then only notes it', async () => {
    const { blobs, keep } = await keepSkill();
    const first = await keep();
    expect(await keep()).toBe(first);
    expect([blobs.puts, blobs.notes]).toEqual([[first], [first]]);
    await keep(tenantSchema.parse('other'));
    expect(blobs.puts).toHaveLength(2);
  });

  it('gives back what a turn began with when the root has moved on', async () => {
    const { skill, blobs, archive, keep } = await keepSkill();
    const pins = [pinOf(skill, await keep())];
    await folder.putSkill('a', skillText('a', 'second'));
    await folder.put('a/guide.md', 'changed');
    await folder.putSkill('b', skillText('b', 'another'));
    const skills = await openPinnedSkills(await skillsHere(), pins, { archive, blobs });
    expect(skills.skills.map(({ description }) => description)).toEqual(['first', 'another']);
    const pinned = skills.get('a') ?? skill;
    expect(pinned.digest).toBe(skill.digest);
    expect(await skills.readDoc(pinned, 'guide.md')).toBe('in $SKILLS_DIR/a');
    const files = await skills.readFiles(pinned);
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md', 'guide.md']);
    expect(skills.get('b')?.description).toBe('another');
  });

  it('is not asked for a skill that is the same here', async () => {
    const { skill, archive } = await keepSkill();
    const here = await skillsHere();
    expect(await openPinnedSkills(here, [pinOf(skill)], { archive, blobs: openBlobs() })).toBe(
      here,
    );
  });

  it.each([
    ['is gone', (blobs: ReturnType<typeof openBlobs>) => blobs.kept.clear()],
    [
      'is damaged',
      (blobs: ReturnType<typeof openBlobs>) => {
        for (const name of blobs.kept.keys()) blobs.kept.set(name, Buffer.from('damaged'));
      },
    ],
  ])('says so when the copy %s and the skill is another here', async (_, harm) => {
    const { skill, blobs, archive, keep } = await keepSkill();
    const pins = [pinOf(skill, await keep())];
    await folder.putSkill('a', skillText('a', 'second'));
    harm(blobs);
    const opening = openPinnedSkills(await skillsHere(), pins, { archive, blobs });
    await expect(opening).rejects.toMatchObject({ code: 'SKILL_UNAVAILABLE' });
  });
});
