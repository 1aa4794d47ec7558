import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  openSkillRepository,
  type SkillRepository,
} from '../../../src/shared/skills/skill-repository.js';

/** A temporary folder with a skill root in it, and repositories that are closed with it. */
export interface SkillFolder {
  readonly base: string;
  readonly root: string;
  openRepository: (this: void, ...roots: string[]) => SkillRepository;
  put: (this: void, path: string, content: string | Uint8Array, under?: string) => Promise<void>;
  putSkill: (this: void, folder: string, text?: string, under?: string) => Promise<void>;
  remove: (this: void) => Promise<void>;
}

/** Makes one; the test removes it. */
export async function makeSkillFolder(): Promise<SkillFolder> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'skills-test-')));
  const root = join(base, 'root');
  await mkdir(root);
  const open: SkillRepository[] = [];
  const put: SkillFolder['put'] = async (path, content, under = root) => {
    await mkdir(dirname(join(under, path)), { recursive: true });
    await writeFile(join(under, path), content);
  };
  return {
    base,
    root,
    openRepository: (...roots) => {
      const repository = openSkillRepository(roots);
      open.push(repository);
      return repository;
    },
    put,
    putSkill: (folder, text = skillText(folder.split('/').at(-1) ?? ''), under = root) =>
      put(`${folder}/SKILL.md`, text, under),
    remove: async () => {
      for (const repository of open) await repository.close();
      await rm(base, { recursive: true });
    },
  };
}

/** A well-formed SKILL.md. */
export function skillText(name: string, description = 'd', body = 'Body\n'): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
}

/** The names of the skills there are now. */
export async function namesOf(repository: SkillRepository): Promise<string[]> {
  return (await repository.snapshot()).skills.map(({ name }) => name);
}

/** The rules of the diagnostics there are now. */
export async function rulesOf(repository: SkillRepository): Promise<string[]> {
  return (await repository.snapshot()).diagnostics.map(({ rule }) => rule);
}
