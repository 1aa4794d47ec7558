import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSkillsDesk, type SkillsDesk } from '../../support/skills-desk.js';

let desk: SkillsDesk;
let dir: string;
let root: string;
beforeEach(async () => {
  desk = await openSkillsDesk();
  ({ dir, root } = desk);
});
const skills = (...args: string[]) => desk.skills(args);

describe('skills lock and verify', () => {
  const lockFile = () => join(dir, 'skills.lock.json');

  it('pins every skill by its digest, in the same bytes each time [skills-lock]', async () => {
    await desk.putSkill('b');
    await desk.putSkill('a');
    expect(await skills('lock')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'wrote skills.lock.json: 2 skills\n',
    });
    const text = await readFile(lockFile(), 'utf8');
    const lock = JSON.parse(text) as { version: number; skills: Record<string, unknown> };
    expect(lock.version).toBe(1);
    expect(Object.keys(lock.skills)).toEqual(['a', 'b']);
    const listed = JSON.parse((await skills('list', '--json')).stdout) as {
      skills: { digest: string }[];
    };
    expect(lock.skills['a']).toEqual({ digest: listed.skills[0]?.digest });
    expect((await skills('lock')).stderr).toBe('nothing changed in skills.lock.json: 2 skills\n');
    expect(await readFile(lockFile(), 'utf8')).toBe(text);
    expect(await skills('verify')).toMatchObject({ code: 0, stdout: '' });
    expect(await skills('lock', '--check')).toMatchObject({ code: 0, stdout: '' });
  });

  it('names what changed (an execute bit too), what is missing and what is extra [skills-lock]', async () => {
    for (const name of ['changed', 'bit', 'gone', 'same']) await desk.putSkill(name);
    await desk.put('bit/run.sh', 'x');
    await skills('lock');
    const before = await readFile(lockFile(), 'utf8');
    await desk.put('changed/scripts/new.sh', 'x');
    await chmod(join(root, 'bit/run.sh'), 0o755);
    await rm(join(root, 'gone'), { recursive: true });
    await desk.putSkill('new');
    for (const command of [['verify'], ['lock', '--check']]) {
      const { code, stdout } = await skills(...command);
      expect(code).toBe(1);
      expect(stdout.split('\n')).toEqual([
        expect.stringMatching(/^changed bit: locked [0-9a-f]{12}, found [0-9a-f]{12}$/),
        expect.stringMatching(/^changed changed: locked /),
        expect.stringMatching(/^missing gone: locked [0-9a-f]{12}$/),
        expect.stringMatching(/^extra new: found [0-9a-f]{12}$/),
        '',
      ]);
    }
    const json = JSON.parse((await skills('verify', '--json')).stdout) as Record<string, unknown[]>;
    expect(json).toMatchObject({
      changed: [{ name: 'bit' }, { name: 'changed' }],
      missing: [{ name: 'gone' }],
      extra: [{ name: 'new' }],
    });
    expect(await readFile(lockFile(), 'utf8')).toBe(before);
    await skills('lock');
    expect((await skills('verify')).code).toBe(0);
  });

  it('writes and reads where SKILLMILL_SKILLS_LOCK says, but not inside a skill [skills-lock]', async () => {
    await desk.putSkill('a');
    const beside = { SKILLMILL_SKILLS_LOCK: join(root, 'pins.json') };
    expect((await desk.skills(['lock'], beside)).code).toBe(0);
    expect((await desk.skills(['verify'], beside)).code).toBe(0);
    expect(await readdir(root)).toEqual(['a', 'pins.json']);
    const within = { SKILLMILL_SKILLS_LOCK: join(root, 'a', 'pins.json') };
    const inside = await desk.skills(['lock'], within);
    expect(inside.code).toBe(2);
    expect(inside.stderr).toContain('lies in the folder of the skill "a"');
    expect(await readdir(join(root, 'a'))).toEqual(['SKILL.md']);
  });

  it('refuses a root that cannot be read and a lock that is missing or broken: exit 2 [skills-lock]', async () => {
    await desk.putSkill('a');
    for (const command of ['verify', 'lock --check']) {
      const { code, stderr } = await skills(...command.split(' '));
      expect(code).toBe(2);
      expect(stderr).toContain('skills.lock.json does not exist; write it with');
    }
    const away = await skills('lock', '--root', root, '--root', 'nowhere');
    expect(away.code).toBe(2);
    expect(away.stderr).toContain('nowhere: The skill root does not exist');
    expect(await readdir(dir)).toEqual(['skills']);
    const setting = await desk.skills(['lock'], { SKILLMILL_SKILLS_FROZEN: 'yes' });
    expect(setting.code).toBe(2);
    expect(setting.stderr).toContain('SKILLMILL_SKILLS_FROZEN: holds "yes", but it must be 0 or 1');
    await writeFile(lockFile(), '{"version":3}');
    expect((await skills('verify')).stderr).toContain('version: must be 1');
  });

  it('--check also finds a lock that holds the right digests in other bytes, but not other line ends [skills-lock]', async () => {
    await desk.putSkill('a');
    await skills('lock');
    const text = await readFile(lockFile(), 'utf8');
    await writeFile(lockFile(), text.replaceAll('\n', '\r\n'));
    expect((await skills('lock', '--check')).code).toBe(0);
    await writeFile(lockFile(), JSON.stringify(JSON.parse(text)));
    expect((await skills('lock', '--check')).code).toBe(1);
    expect((await skills('verify')).code).toBe(0);
  });
});
