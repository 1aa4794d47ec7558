import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSkillFolder, namesOf, rulesOf, skillText, type SkillFolder } from './skill-folder.js';

let base: string;
let root: string;
let openRepository: SkillFolder['openRepository'];
let put: SkillFolder['put'];
let putSkill: SkillFolder['putSkill'];
let remove: SkillFolder['remove'];

beforeEach(async () => {
  ({ base, root, openRepository, put, putSkill, remove } = await makeSkillFolder());
});
afterEach(() => remove());

describe('what is found', () => {
  it('lists skills of any depth, sorted by name, with docs and folder', async () => {
    await putSkill('b');
    await putSkill('deep/er/a');
    await put('b/docs/USAGE.md', 'u');
    await put('b/notes.TXT', 'n');
    await put('b/scripts/run.sh', '#!');
    await put('README.md', 'not a skill');
    const snapshot = await openRepository(root).snapshot();
    expect(snapshot.skills.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(snapshot.get('b')).toMatchObject({
      dir: join(root, 'b'),
      docs: ['docs/USAGE.md', 'notes.TXT'],
    });
    expect(snapshot.diagnostics).toEqual([]);
    expect(snapshot.get('c')).toBeUndefined();
  });

  it('takes nested skills as skills of their own, with files of their own', async () => {
    await putSkill('a');
    await putSkill('a/sub');
    await put('a/doc.md', '1');
    await put('a/sub/doc.md', '2');
    const snapshot = await openRepository(root).snapshot();
    expect(snapshot.get('a')?.docs).toEqual(['doc.md']);
    expect(snapshot.get('sub')?.docs).toEqual(['doc.md']);
    const paths = (await snapshot.readFiles('a')).map(({ path }) => path);
    expect(paths).toEqual(['SKILL.md', 'doc.md']);
  });

  it('takes a root that is itself a skill, under the name of the root as configured', async () => {
    await put('SKILL.md', '---\ndescription: d\n---\n');
    expect(await namesOf(openRepository(root))).toEqual(['root']);
  });

  it('says when SKILL.md is not spelt so', async () => {
    await put('b/skill.md', skillText('b'));
    await put('c/SKILL.MD', skillText('c'));
    await putSkill('d');
    await put('d/skill.md', 'both');
    const { skills, diagnostics } = await openRepository(root).snapshot();
    expect(skills.map(({ name }) => name)).toEqual(['d']);
    expect(diagnostics).toMatchObject([
      {
        rule: 'skill-file-case',
        file: join(root, 'b/skill.md'),
        message: 'Found skill.md; it must be SKILL.md.',
      },
      { rule: 'skill-file-case', file: join(root, 'c/SKILL.MD') },
    ]);
  });

  it('leaves out .git and node_modules', async () => {
    await putSkill('a');
    await putSkill('.git/x');
    await putSkill('node_modules/y');
    await put('a/node_modules/z.md', 'z');
    const snapshot = await openRepository(root).snapshot();
    expect(snapshot.skills.map(({ name, docs }) => [name, docs])).toEqual([['a', []]]);
  });

  it('leaves out what it cannot understand, and keeps the others', async () => {
    await putSkill('good');
    await put('js/SKILL.md', '---js\nglobalThis.__pwned = 1\n---\n');
    await put('bomb/SKILL.md', '---\nname: bomb\nmetadata: &a {self: *a}\n---\n');
    await putSkill('traversal', skillText('../../etc'));
    await put('big/SKILL.md', skillText('big', 'd', 'x'.repeat(1024 * 1024)));
    const { skills, diagnostics } = await openRepository(root).snapshot();
    expect(skills.map(({ name }) => name)).toEqual(['good']);
    expect(diagnostics.map(({ rule }) => rule)).toEqual([
      'skill-file-too-large',
      'front-matter-too-complex',
      'front-matter-language',
      'name-unsafe',
    ]);
    expect(globalThis).not.toHaveProperty('__pwned');
  });

  it('reports a doc over 1 MiB and bytes that are not UTF-8', async () => {
    await put('a/SKILL.md', Buffer.concat([Buffer.from(skillText('a')), Uint8Array.from([0xff])]));
    await put('a/big.md', 'x'.repeat(1024 * 1024 + 1));
    await put('a/edge.md', 'x'.repeat(1024 * 1024));
    const snapshot = await openRepository(root).snapshot();
    expect(snapshot.get('a')?.docs).toEqual(['edge.md']);
    expect(snapshot.diagnostics.map(({ rule }) => rule)).toEqual([
      'skill-file-encoding',
      'doc-too-large',
    ]);
  });

  it('leaves out a skill of more than 10,000 files', async () => {
    await putSkill('a');
    await putSkill('b');
    for (let from = 0; from < 10_000; from += 500) {
      await Promise.all(
        Array.from({ length: 500 }, (_, at) => writeFile(join(root, 'a', `f${from + at}`), '')),
      );
    }
    const { skills, diagnostics } = await openRepository(root).snapshot();
    expect(skills.map(({ name }) => name)).toEqual(['b']);
    expect(diagnostics).toMatchObject([{ rule: 'skill-too-many-files', severity: 'error' }]);
  }, 60_000);
});

describe('links', () => {
  it('follows a linked skill folder that stays in a root, and the root itself', async () => {
    const pool = join(base, 'pool');
    await putSkill('c', skillText('c'), pool);
    await symlink(join(pool, 'c'), join(root, 'c'));
    await symlink(root, join(base, 'root-link'));
    const repository = openRepository(join(base, 'root-link'), pool);
    expect(await namesOf(repository)).toEqual(['c']);
    expect(await rulesOf(repository)).toEqual([]);
  });

  it('reports every other link and follows none', async () => {
    const pool = join(base, 'pool');
    await putSkill('c', skillText('c'), pool);
    await put('secret.md', 's', pool);
    await put('plain/x.md', 'x', pool);
    await putSkill('e');
    await mkdir(join(root, 'd'));
    await symlink(join(pool, 'c'), join(root, 'out'));
    await symlink('../../pool/c/SKILL.md', join(root, 'd/SKILL.md'));
    await symlink('.', join(root, 'e/loop'));
    await symlink('..', join(root, 'e/up'));
    await symlink(join(pool, 'secret.md'), join(root, 'e/secret.md'));
    await symlink(join(pool, 'plain'), join(root, 'e/plain'));
    await symlink('missing', join(root, 'f'));
    await symlink('README.md', join(root, 'ordinary'));
    await put('README.md', 'r');
    const snapshot = await openRepository(root).snapshot();
    expect(snapshot.skills.map(({ name, docs }) => [name, docs])).toEqual([['e', []]]);
    const reported = snapshot.diagnostics.map(
      ({ rule, file }) => `${rule} ${file.slice(root.length + 1)}`,
    );
    expect(reported.sort()).toEqual([
      'link-broken f',
      'link-not-followed d/SKILL.md',
      'link-not-followed e/plain',
      'link-not-followed e/secret.md',
      'link-not-followed e/up',
      'link-not-followed out',
    ]);
    expect((await snapshot.readFiles('e')).map(({ path }) => path)).toEqual(['SKILL.md']);
  });
});
