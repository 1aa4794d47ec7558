import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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

describe('names', () => {
  it('gives the first root the name, and says which one lost', async () => {
    const second = join(base, 'second');
    await putSkill('a', skillText('a', 'first'));
    await putSkill('a', skillText('a', 'second'), second);
    await putSkill('z/a', skillText('a', 'third'));
    const repository = openRepository(root, second);
    const snapshot = await repository.snapshot();
    expect(snapshot.skills.map(({ description }) => description)).toEqual(['first']);
    expect(snapshot.diagnostics).toMatchObject([
      { rule: 'name-duplicate', file: join(root, 'z/a') },
      { rule: 'name-duplicate', file: join(second, 'a') },
    ]);
    await rm(join(root, 'a'), { recursive: true });
    expect((await repository.snapshot()).get('a')?.description).toBe('third');
  });

  it('knows a skill by its own name only, and suggests it for its folder’s', async () => {
    await putSkill('react-best-practices', skillText('vercel-react-best-practices'));
    await putSkill('pdf-tools');
    const snapshot = await openRepository(root).snapshot();
    expect(snapshot.get('react-best-practices')).toBeUndefined();
    expect(snapshot.suggest('react-best-practices')).toEqual(['vercel-react-best-practices']);
    expect(snapshot.suggest('PDF_Tools')).toEqual(['pdf-tools']);
    expect(snapshot.suggest('pdf-tool')).toEqual(['pdf-tools']);
    expect(snapshot.suggest('something else')).toEqual([]);
    await expect(snapshot.readFiles('react-best-practices')).rejects.toMatchObject({
      code: 'SKILL_NOT_FOUND',
      message:
        "skill 'react-best-practices' not found. Did you mean 'vercel-react-best-practices'?",
    });
  });

  it('answers a skill that is not allowed exactly as a missing one', async () => {
    await putSkill('open');
    await putSkill('hidden', skillText('hidden-a'));
    const snapshot = await openRepository(root).snapshot();
    const narrow = snapshot.allowed(['open', 'no-such']);
    expect(narrow.skills.map(({ name }) => name)).toEqual(['open']);
    expect(narrow.get('hidden-a')).toBeUndefined();
    expect(narrow.suggest('hidden')).toEqual([]);
    expect(narrow.suggest('hidden-b')).toEqual([]);
    expect(narrow.diagnostics).toEqual([]);
    const failure = (name: string) =>
      narrow.readDoc(name, 'x', '/').catch((thrown: unknown) => String(thrown));
    expect((await failure('hidden-a')).replace('hidden-a', 'N')).toBe(
      (await failure('nowhere')).replace('nowhere', 'N'),
    );
  });
});

describe('roots', () => {
  it('reads file:// URLs with no host or localhost', async () => {
    await putSkill('a');
    const url = pathToFileURL(root).href;
    expect(await namesOf(openRepository(url))).toEqual(['a']);
    expect(await namesOf(openRepository(url.replace('file://', 'file://localhost')))).toEqual([
      'a',
    ]);
  });

  it('reports roots that cannot be used and uses the others', async () => {
    await putSkill('a');
    await put('file', 'x');
    const roots = [
      join(base, 'missing'),
      join(root, 'file'),
      'https://example.org/s.zip',
      'file://host/x',
      's3://b',
      root,
    ];
    const { skills, diagnostics } = await openRepository(...roots).snapshot();
    expect(skills).toHaveLength(1);
    expect(diagnostics.map(({ rule, severity, file }) => [rule, severity, file])).toEqual([
      ['root-missing', 'error', roots[0]],
      ['root-not-a-directory', 'error', roots[1]],
      ['root-url-unsupported', 'error', roots[2]],
      ['root-url-unsupported', 'error', roots[3]],
      ['root-url-unsupported', 'error', roots[4]],
    ]);
    expect(diagnostics[2]?.message).toContain('not supported in this version');
  });

  it('counts overlapping roots once', async () => {
    await putSkill('in/a');
    const repository = openRepository(root, join(root, 'in'), root);
    expect(await namesOf(repository)).toEqual(['a']);
    expect(await rulesOf(repository)).toEqual([]);
  });

  it('finds a root that appears later', async () => {
    const late = join(base, 'late');
    const repository = openRepository(late);
    expect(await rulesOf(repository)).toEqual(['root-missing']);
    await putSkill('a', skillText('a'), late);
    expect(await namesOf(repository)).toEqual(['a']);
  });
});
