import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skillFromFiles } from '../../../src/shared/skills/skill-from-files.js';
import { packSkill, unpackSkill } from '../../../src/shared/skills/skill-pack.js';
import { makeSkillFolder, skillText, type SkillFolder } from './skill-folder.js';

let folder: SkillFolder;
beforeEach(async () => {
  folder = await makeSkillFolder();
});
afterEach(() => folder.remove());

describe('a packed skill', () => {
  it('comes back as it was read from its folder, files and all', async () => {
    await folder.putSkill('a', `${skillText('a', 'what it does')}\n\nTools:\n\n- one\n- two\n`);
    await folder.put('a/docs/guide.md', 'guide');
    await folder.put('a/run.sh', 'echo hi');
    await folder.put('a/empty.txt', '');
    const snapshot = await folder.openRepository(folder.root).snapshot();
    const files = await snapshot.readFiles('a');
    const unpacked = unpackSkill(Buffer.concat([...packSkill(files)]));
    expect(unpacked.map(({ path }) => path)).toEqual(files.map(({ path }) => path));
    expect(unpacked.map(({ content }) => Buffer.from(content).toString())).toEqual(
      files.map(({ content }) => Buffer.from(content).toString()),
    );
    expect(skillFromFiles('a', unpacked)).toEqual({ ...snapshot.get('a'), dir: 'a' });
  });

  it('that is none gives no skill', () => {
    expect(skillFromFiles('a', [])).toBeUndefined();
    expect(() => unpackSkill(Buffer.from('no pack at all'))).toThrow();
  });
});
