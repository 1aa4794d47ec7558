import { chmod, cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { projectDir } from '../../support/cli.js';
import { openSkillsDesk, type SkillsDesk } from '../../support/skills-desk.js';

const fixtures = join(projectDir, 'test', 'fixtures', 'skills');
const examples = join(projectDir, 'examples', 'skills');

let desk: SkillsDesk;
let dir: string;
let root: string;
beforeEach(async () => {
  desk = await openSkillsDesk();
  ({ dir, root } = desk);
});
const skills = (...args: string[]) => desk.skills(args);

describe('skills list', () => {
  it('shows each skill with its description on one line, folder and digest; faults go to stderr [skills-list]', async () => {
    await cp(join(fixtures, 'folded'), join(root, 'folded'), { recursive: true });
    await cp(join(fixtures, 'colon'), join(root, 'colon'), { recursive: true });
    await cp(join(fixtures, 'lang-js'), join(root, 'lang-js'), { recursive: true });
    const { code, stdout, stderr } = await skills('list');
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^colon   [0-9a-f]{12}  ${root}/colon$`)),
      '    Cleans tables. Use when: the user has a messy CSV',
      expect.stringMatching(new RegExp(`^folded  [0-9a-f]{12}  ${root}/folded$`)),
      '    First part second part. Triggers: csv, tsv',
      '',
    ]);
    expect(stderr.trimEnd().split('\n').sort()).toEqual([
      expect.stringContaining(`${root}/colon/SKILL.md:3: warning unquoted-colon `),
      expect.stringContaining(`${root}/lang-js/SKILL.md:1: error front-matter-language `),
    ]);
  });

  it('gives the same as one JSON document, full digests and diagnostics in it [skills-list]', async () => {
    await cp(join(fixtures, 'colon'), join(root, 'colon'), { recursive: true });
    const { code, stdout, stderr } = await skills('list', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      skills: [
        {
          name: 'colon',
          description: 'Cleans tables. Use when: the user has a messy CSV',
          dir: `${root}/colon`,
          digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          tools: [],
          docs: [],
        },
      ],
      diagnostics: [
        {
          rule: 'unquoted-colon',
          severity: 'warning',
          file: `${root}/colon/SKILL.md`,
          line: 3,
          message: expect.any(String) as string,
        },
      ],
    });
  });

  it('says that a root is empty or missing, and exits 0 [skills-list]', async () => {
    expect(await skills('list')).toEqual({
      code: 0,
      stdout: '',
      stderr: `no skills in ${root}\n`,
    });
    const { code, stderr } = await skills('list', '--root', 'nowhere', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const missing = await skills('list', '--root', 'nowhere');
    expect(missing.code).toBe(0);
    expect(missing.stderr).toContain('nowhere: error root-missing ');
  });

  it('takes several --root in place of SKILLS_ROOT; the first skill of a name wins [skills-list]', async () => {
    await desk.putSkill('in-settings');
    await mkdir(join(dir, 'one/a'), { recursive: true });
    await mkdir(join(dir, 'two/a'), { recursive: true });
    await writeFile(join(dir, 'one/a/SKILL.md'), '---\nname: a\ndescription: first\n---\n');
    await writeFile(join(dir, 'two/a/SKILL.md'), '---\nname: a\ndescription: second\n---\n');
    const { stdout, stderr } = await skills('list', '--root', 'one', '--root', 'two');
    expect(stdout).toMatch(/^a {2}[0-9a-f]{12} {2}.*\/one\/a\n {4}first\n$/);
    expect(stderr).toContain('name-duplicate');
  });

  it('prints no control character of a skill and leaves no copy of it behind [skills-list]', async () => {
    await cp(join(fixtures, 'win'), join(root, 'win'), { recursive: true });
    const turned = '\u001b[31mred\u202egnp.exe';
    await desk.putSkill('hostile', `"\\e[31mred\\u202Egnp.exe\\nhostile2  x"`, `${turned}\tbody\n`);
    await desk.put(`hostile/a\n${turned}.md`, 'doc');
    const copies = join(dir, 'tmp');
    await mkdir(copies);
    const own = { TMPDIR: copies };
    const outcomes = [
      await desk.skills(['list'], own),
      await desk.skills(['show', 'hostile'], own),
    ];
    for (const { code, stdout, stderr } of outcomes) {
      expect(code).toBe(0);
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(stdout + stderr).not.toMatch(/^hostile2/m);
    }
    expect(await readdir(copies)).toEqual([]);
  });

  it('is not held up by hostile front matter [skills-list]', async () => {
    const started = Date.now();
    const { code, stdout } = await skills('list', '--json', '--root', fixtures);
    expect(code).toBe(0);
    expect(Date.now() - started).toBeLessThan(10_000);
    const { skills: listed } = JSON.parse(stdout) as { skills: { name: string }[] };
    expect(listed.map(({ name }) => name)).toContain('good');
    expect(listed.map(({ name }) => name)).not.toContain('deep');
  });
});

describe('skills show', () => {
  it('tells all of one skill [skills-list]', async () => {
    await desk.putSkill('good', 'd', 'Tools:\n- calc_add\n\n# Body\nUse __BASE_DIR__\n');
    await desk.put('good/docs/x.md', '12345');
    await desk.put('good/scripts/run.sh', '#!/bin/sh\n');
    await chmod(join(root, 'good/scripts/run.sh'), 0o755);
    const text = await skills('show', 'good');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/^tools +calc_add$/m);
    expect(text.stdout).toMatch(/^docs +docs\/x\.md$/m);
    expect(text.stdout).toMatch(/^digest +[0-9a-f]{64}$/m);
    expect(text.stdout).toMatch(/^ +5 - docs\/x\.md$/m);
    expect(text.stdout).toMatch(/^ +10 x scripts\/run\.sh$/m);
    expect(text.stdout).toMatch(/\n\nTools:\n- calc_add\n\n# Body\nUse __BASE_DIR__\n$/);
    const json = await skills('show', 'good', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      name: 'good',
      body: 'Tools:\n- calc_add\n\n# Body\nUse __BASE_DIR__\n',
      tools: ['calc_add'],
      docs: ['docs/x.md'],
      files: [
        { path: 'SKILL.md', executable: false },
        { path: 'docs/x.md', bytes: 5, executable: false },
        { path: 'scripts/run.sh', bytes: 10, executable: true },
      ],
      diagnostics: [],
    });
  });

  it('does not know a missing one, but what may be meant, and why one was left out [skills-list]', async () => {
    const name = 'react-best-practices';
    await cp(join(fixtures, name), join(root, name), { recursive: true });
    await cp(join(fixtures, 'lang-js'), join(root, 'lang-js'), { recursive: true });
    expect(await skills('show', name)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `skillmill: SKILL_NOT_FOUND: skill '${name}' not found. Did you mean 'vercel-react-best-practices'?\n`,
    });
    const leftOut = await skills('show', 'lang-js', '--json');
    expect(leftOut.code).toBe(1);
    expect(JSON.parse(leftOut.stdout)).toMatchObject({ error: { code: 'SKILL_NOT_FOUND' } });
    expect(leftOut.stderr).toContain('lang-js/SKILL.md:1: error front-matter-language');
  });
});

describe('skills validate', () => {
  it.each([
    ['examples', examples, 0, ''],
    ['good', join(fixtures, 'good'), 0, ''],
    ['win', join(fixtures, 'win'), 0, 'SKILL.md:1: warning byte-order-mark '],
    ['colon', join(fixtures, 'colon', 'SKILL.md'), 1, 'SKILL.md:3: error unquoted-colon '],
    ['d1025', join(fixtures, 'd1025'), 1, 'SKILL.md:3: error description-too-long '],
  ])('%s: each finding with file, line and rule [skills-validate]', async (_, path, code, said) => {
    const outcome = await skills('validate', path);
    expect(outcome.code).toBe(code);
    if (said === '') expect(outcome.stdout).toBe('');
    else expect(outcome.stdout).toContain(said);
  });

  it('reads several paths, and prints JSON [skills-validate]', async () => {
    const paths = [join(fixtures, 'win'), join(fixtures, 'colon')];
    const { code, stdout, stderr } = await skills('validate', ...paths, '--json');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      errors: 1,
      warnings: 2,
      findings: [
        { rule: 'byte-order-mark', severity: 'warning', line: 1 },
        { rule: 'line-endings', severity: 'warning', line: 1 },
        { rule: 'unquoted-colon', severity: 'error', line: 3 },
      ],
    });
  });

  it('names every path that is not there: exit 2, nothing else is said [skills-validate]', async () => {
    const { code, stdout, stderr } = await skills('validate', 'no', join(fixtures, 'colon'), 'nor');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'skillmill: INPUT_INVALID: There is no such file or folder: "no", "nor".\n',
    );
    expect((await skills('validate')).code).toBe(2);
  });
});
