import { chmod, rename, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SkillRepository } from '../../../src/shared/skills/skill-repository.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeSkillFolder, namesOf, skillText, type SkillFolder } from './skill-folder.js';

let root: string;
let openRepository: SkillFolder['openRepository'];
let put: SkillFolder['put'];
let putSkill: SkillFolder['putSkill'];
let remove: SkillFolder['remove'];

beforeEach(async () => {
  ({ root, openRepository, put, putSkill, remove } = await makeSkillFolder());
});
afterEach(() => remove());

const textOf = (content: Uint8Array | undefined) => Buffer.from(content ?? []).toString();

/** Both ways of noticing a change: at once (by stat), and after the folders have been quiet long enough to be watched. */
const settle = {
  'at once': () => Promise.resolve(),
  'when settled and watched': async (repository: SkillRepository) => {
    for (let look = 0; look < 3; look++) {
      await new Promise((resolve) => setTimeout(resolve, 120));
      await repository.snapshot();
    }
  },
};

describe.each(Object.entries(settle))('hot reload %s', (_, quiet) => {
  it('gives the same object while nothing changes', async () => {
    await putSkill('a');
    const repository = openRepository(root);
    const first = await repository.snapshot();
    await quiet(repository);
    expect(await repository.snapshot()).toBe(first);
  });

  it('sees a skill added, changed, renamed and removed', async () => {
    await putSkill('a');
    const repository = openRepository(root);
    expect(await namesOf(repository)).toEqual(['a']);
    await quiet(repository);
    await putSkill('x/y/b');
    expect(await namesOf(repository)).toEqual(['a', 'b']);
    await quiet(repository);
    await putSkill('a', skillText('a', 'e'));
    expect((await repository.snapshot()).get('a')?.description).toBe('e');
    await quiet(repository);
    await rename(join(root, 'x/y/b'), join(root, 'c'));
    await putSkill('c');
    expect(await namesOf(repository)).toEqual(['a', 'c']);
    await quiet(repository);
    await rm(join(root, 'a'), { recursive: true });
    expect(await namesOf(repository)).toEqual(['c']);
  });

  it('sees a change of equal size and of equal time', async () => {
    await putSkill('a', skillText('a', 'aaaa'));
    const file = join(root, 'a/SKILL.md');
    await utimes(file, 1_000, 1_000);
    const repository = openRepository(root);
    await repository.snapshot();
    await quiet(repository);
    for (const description of ['bbbb', 'cccc', 'dddd']) {
      await putSkill('a', skillText('a', description));
      await utimes(file, 1_000, 1_000);
      expect((await repository.snapshot()).get('a')?.description).toBe(description);
    }
  });

  it('keeps a snapshot and its files as they were', async () => {
    await putSkill('a', skillText('a', 'old', 'old body\n'));
    await put('a/doc.md', 'old __BASE_DIR__');
    await put('a/run.sh', 'old');
    await chmod(join(root, 'a/run.sh'), 0o755);
    const repository = openRepository(root);
    const before = await repository.snapshot();
    await quiet(repository);
    await putSkill('a', skillText('a', 'new'));
    await put('a/doc.md', 'new');
    await rm(join(root, 'a/run.sh'));
    const after = await repository.snapshot();
    expect(before.get('a')).toMatchObject({
      description: 'old',
      body: 'old body\n',
      docs: ['doc.md'],
    });
    expect(await before.readDoc('a', 'doc.md', '/workspace/skills/a')).toBe(
      'old /workspace/skills/a',
    );
    const files = await before.readFiles('a');
    expect(
      files.map(({ path, executable, content }) => [path, executable, textOf(content).slice(0, 3)]),
    ).toEqual([
      ['SKILL.md', false, '---'],
      ['doc.md', false, 'old'],
      ['run.sh', true, 'old'],
    ]);
    expect(await after.readDoc('a', 'doc.md', '/')).toBe('new');
    expect(after.get('a')?.digest).not.toBe(before.get('a')?.digest);
  });
});

it('sees that a root is a link that leads elsewhere now', async () => {
  for (const name of ['one', 'two']) await putSkill(`../${name}/${name}`);
  const base = dirname(root);
  const link = join(base, 'current');
  await symlink(join(base, 'one'), link);
  const repository = openRepository(link);
  await settle['when settled and watched'](repository);
  expect(await namesOf(repository)).toEqual(['one']);
  await symlink(join(base, 'two'), join(base, 'next'));
  await rename(join(base, 'next'), link);
  await vi.waitFor(async () => {
    expect(await namesOf(repository)).toEqual(['two']);
  }, 10_000);
});

it('answers many askers at once, each with what was there when it asked', async () => {
  await putSkill('a');
  const repository = openRepository(root);
  const asked = Array.from({ length: 8 }, () => repository.snapshot());
  await putSkill('b');
  expect(await namesOf(repository)).toEqual(['a', 'b']);
  for (const snapshot of await Promise.all(asked)) expect(snapshot.get('a')).toBeDefined();
});

it('names the docs there are when asked for one that is not', async () => {
  await putSkill('a');
  await put('a/docs/USAGE.md', '\uFEFFone\r\ntwo $& __BASE_DIR__ __BASE_DIR__');
  const snapshot = await openRepository(root).snapshot();
  expect(await snapshot.readDoc('a', 'docs/USAGE.md', '$1')).toBe('one\ntwo $& $1 $1');
  for (const path of ['USAGE.md', '../a/docs/USAGE.md', 'SKILL.md']) {
    await expect(snapshot.readDoc('a', path, '/')).rejects.toMatchObject({
      code: 'TOOL_INPUT_INVALID',
      message: expect.stringContaining('it has docs/USAGE.md') as string,
    });
  }
});

it('can be closed twice, and says so to a snapshot that reads later', async () => {
  await putSkill('a');
  const repository = openRepository(root);
  const snapshot = await repository.snapshot();
  await repository.close();
  await repository.close();
  await expect(snapshot.readFiles('a')).rejects.toThrow('closed');
  await expect(repository.snapshot()).rejects.toThrow('closed');
});
