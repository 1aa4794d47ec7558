import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { validateSkills } from '../../../src/shared/skills/validate-skill.js';

const fixtures = join(import.meta.dirname, '../../fixtures/skills');
const found = async (path: string) =>
  (await validateSkills(path)).map(({ rule, severity, line }) => `${severity} ${rule} ${line}`);

it('has nothing to say about the examples', async () => {
  expect(await validateSkills(join(import.meta.dirname, '../../../examples/skills'))).toEqual([]);
});

describe('the specification, rule by rule', () => {
  const cases: [string, string[]][] = [
    ['good', []],
    ['colon', ['error unquoted-colon 3']],
    ['react-best-practices', ['error name-folder-mismatch 2']],
    ['capitals', ['error name-folder-mismatch 2', 'error name-format 2']],
    ['under_score', ['error name-format 2']],
    ['name-65', ['error name-folder-mismatch 2', 'error name-too-long 2']],
    ['nameless', ['error name-missing 1']],
    ['d1024', []],
    ['d1024-emoji', []],
    ['d1025', ['error description-too-long 3']],
    ['compat501', ['error compatibility-too-long 4']],
    [
      'none',
      ['error front-matter-missing 1', 'error name-missing 1', 'error description-missing 1'],
    ],
    ['late', ['error front-matter-late 5']],
    ['unclosed', ['error front-matter-unclosed 1']],
    ['unknown-keys', ['error unknown-key 4', 'error unknown-key 5']],
    ['nested-metadata', ['error field-type 4']],
    ['tools-list', []],
    ['win', ['warning byte-order-mark 1', 'warning line-endings 1']],
    ['lang-js', ['error front-matter-language 1']],
  ];
  it.each(cases)('%s', async (name, findings) => {
    expect(await found(join(fixtures, name))).toEqual(findings);
    expect(await found(join(fixtures, name, 'SKILL.md'))).toEqual(findings);
  });
});

describe('paths', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'skills-validate-'));
  });
  afterEach(() => rm(root, { recursive: true }));
  const put = async (folder: string, file: string, text: string) => {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, file), text);
  };
  const skill = (name: string) => `---\nname: ${name}\ndescription: d\n---\n`;

  it('names each file of a root of many, in order', async () => {
    await put('b', 'SKILL.md', skill('x'));
    await put('a', 'SKILL.md', skill('a'));
    await put('c', 'skill.md', skill('c'));
    await put('d', 'SKILL.md', skill('a'));
    const findings = await validateSkills(root);
    expect(
      findings.map(({ file, line, rule }) => [file.slice(root.length + 1), line, rule]),
    ).toEqual(
      [
        ['b/SKILL.md', 2, 'name-folder-mismatch'],
        ['c/skill.md', 1, 'skill-file-case'],
        ['d/SKILL.md', 2, 'name-folder-mismatch'],
        ['d/SKILL.md', 1, 'name-duplicate'],
      ].sort((x, y) => String(x[0]).localeCompare(String(y[0])) || Number(x[1]) - Number(y[1])),
    );
  });

  it('says when there is nothing to validate', async () => {
    await put('e', 'x.md', '');
    expect(await found(join(root, 'missing'))).toEqual(['error root-missing 1']);
    expect(await found(join(root, 'e'))).toEqual(['error no-skill 1']);
    expect(await found(join(root, 'e/x.md'))).toEqual(['error no-skill 1']);
  });

  it('says how SKILL.md is spelt, and that a linked one is not followed', async () => {
    await put('b', 'skill.md', skill('b'));
    await put('a', 'SKILL.md', skill('a'));
    await mkdir(join(root, 'd'));
    await symlink('../a/SKILL.md', join(root, 'd/SKILL.md'));
    expect(await found(join(root, 'b'))).toEqual(['error skill-file-case 1']);
    expect(await found(join(root, 'b/skill.md'))).toEqual(['error skill-file-case 1']);
    expect(await found(join(root, 'd'))).toEqual(['error link-not-followed 1']);
    expect(await found(join(root, 'd/SKILL.md'))).toEqual(['error link-not-followed 1']);
    expect(await found(join(root, 'a/SKILL.md'))).toEqual([]);
  });
});
