import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cli, type CliOutcome, type Env } from './cli.js';
import { tempDir } from './temp-dir.js';

/** A folder with an empty skill root, `skills`, in which `skillmill skills …` is run. */
export interface SkillsDesk {
  readonly dir: string;
  readonly root: string;
  skills(args: readonly string[], env?: Env): Promise<CliOutcome>;
  put(path: string, text: string): Promise<void>;
  putSkill(name: string, description?: string, body?: string): Promise<void>;
}

/** Makes one, gone when the test is over; no Redis listens where its settings say. */
export async function openSkillsDesk(): Promise<SkillsDesk> {
  const dir = await tempDir();
  const root = join(dir, 'skills');
  await mkdir(root);
  const settings = { SKILLS_ROOT: root, REDIS_URL: 'redis://127.0.0.1:1', TEST_CWD: dir };
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  return {
    dir,
    root,
    skills: (args, env = {}) => cli(['skills', ...args], { ...settings, ...env }),
    put,
    putSkill: (name, description = 'd', body = 'Body\n') =>
      put(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n---\n${body}`),
  };
}
