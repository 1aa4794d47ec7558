import { chmod, mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { treeDigest } from '../../../src/shared/skills/skill-digest.js';
import { findSkills } from '../../../src/shared/skills/skill-tree.js';
import { indexSkill } from '../../../src/shared/skills/skill-index.js';
import { SkillPackStore } from '../../../src/shared/skills/skill-pack-store.js';
import { openSkillRepository } from '../../../src/shared/skills/skill-repository.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'skills-digest-'));
  await mkdir(join(root, 'a'));
  await writeFile(join(root, 'a/SKILL.md'), '---\nname: a\ndescription: d\n---\n');
  await writeFile(join(root, 'a/run.sh'), 'run');
  await chmod(join(root, 'a/run.sh'), 0o644);
});
afterEach(() => rm(root, { recursive: true }));

const digest = async () => {
  const repository = openSkillRepository([root]);
  const found = (await repository.snapshot()).get('a')?.digest;
  await repository.close();
  return found;
};

it('is the same wherever and whenever the same files lie', async () => {
  const before = await digest();
  expect(before).toMatch(/^[0-9a-f]{64}$/);
  await utimes(join(root, 'a/run.sh'), 1, 1);
  await rename(join(root, 'a'), join(root, 'b'));
  await mkdir(join(root, 'b/.git'));
  await writeFile(join(root, 'b/.git/x'), 'x');
  expect(await digest()).toBe(before);
});

const changes: Record<string, () => Promise<void>> = {
  'a content': () => writeFile(join(root, 'a/run.sh'), 'ran'),
  'an execute bit': () => chmod(join(root, 'a/run.sh'), 0o755),
  'a name': () => rename(join(root, 'a/run.sh'), join(root, 'a/ran.sh')),
  'a file more': () => writeFile(join(root, 'a/new'), ''),
  'a file less': () => rm(join(root, 'a/run.sh')),
};
it.each(Object.entries(changes))('changes with %s', async (_, change) => {
  const before = await digest();
  await change();
  expect(await digest()).not.toBe(before);
});

it('is pinned: a digest in a lock file must hold for ever', () => {
  const files = [
    { path: 'b\n', executable: true, sha256: 'bb' },
    { path: 'a', executable: false, sha256: 'aa' },
  ];
  // printf -- '- aa "a"\nx bb "b\\n"\n' | sha256sum
  expect(treeDigest(files)).toBe(
    'dd8e2e94dd6f236f3036c64a62c856a7fbd6c44abc728bf59f7e39eacdc006ae',
  );
});

it('does not trust a stat that is as young as the reading', async () => {
  const packs = new SkillPackStore();
  const tree = await findSkills({ dir: root, shown: root, within: [root] });
  for (const [changedAt, isSettled] of [
    [Date.now() - 60_000, true],
    [Date.now() + 60_000, false],
  ] as const) {
    for (const skill of tree.skills) {
      const files = skill.files.map((file) => ({ ...file, changedAt }));
      expect(await indexSkill({ ...skill, files }, packs)).toMatchObject({ isSettled });
    }
  }
  await packs.close();
});
