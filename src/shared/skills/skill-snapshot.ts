import { basename } from 'node:path';
import { SkillmillError } from '../errors/skillmill-error.js';
import { nearestNames } from './nearest-names.js';
import { docText } from './skill-docs.js';
import type { Skill, SkillDiagnostic, SkillFile } from './skill.js';

/** The skills at one moment; nothing in it changes, whatever happens to the roots, so a turn holds one from its first to its last step. */
export interface SkillSnapshot {
  /** Sorted by name. */
  readonly skills: readonly Skill[];
  readonly diagnostics: readonly SkillDiagnostic[];
  get(name: string): Skill | undefined;
  /** The names most likely meant by one that is not there, best first; empty when nothing is near. */
  suggest(name: string): readonly string[];
  /** The same moment with only these skills: every other one is exactly as missing. */
  allowed(names: readonly string[]): SkillSnapshot;
  /** The files of a skill as they were at that moment, sorted by path; throws SKILL_NOT_FOUND when the snapshot has no such skill. */
  readFiles(name: string): Promise<readonly SkillFile[]>;
  /** A doc as the model sees it, with `__BASE_DIR__` as `baseDir`; throws SKILL_NOT_FOUND, or TOOL_INPUT_INVALID with the docs there are. */
  readDoc(name: string, path: string, baseDir: string): Promise<string>;
}

/** A skill with what was found wrong with it. */
export interface SnapshotEntry {
  readonly skill: Skill;
  readonly diagnostics: readonly SkillDiagnostic[];
}

/** Gives the files of a digest. */
export type ReadPack = (digest: string) => Promise<readonly SkillFile[]>;

/** Makes a snapshot; `entries` are sorted by name, `others` are diagnostics of no skill in it. */
export function makeSnapshot(
  entries: readonly SnapshotEntry[],
  others: readonly SkillDiagnostic[],
  readPack: ReadPack,
): SkillSnapshot {
  const skills = entries.map(({ skill }) => skill);
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  const suggest = (name: string): readonly string[] =>
    nearestNames(
      name,
      skills.map((skill) => ({ name: skill.name, folderName: basename(skill.dir) })),
    );
  const need = (name: string): Skill => {
    const skill = byName.get(name);
    if (skill) return skill;
    const near = suggest(name);
    const hint =
      near.length === 0 ? '' : ` Did you mean ${near.map((each) => `'${each}'`).join(' or ')}?`;
    throw new SkillmillError('SKILL_NOT_FOUND', `skill '${name}' not found.${hint}`, {
      details: { suggestions: near },
    });
  };
  return {
    skills,
    diagnostics: [...others, ...entries.flatMap(({ diagnostics }) => diagnostics)],
    get: (name) => byName.get(name),
    suggest,
    allowed: (names) => {
      const visible = new Set(names);
      return makeSnapshot(
        entries.filter(({ skill }) => visible.has(skill.name)),
        [],
        readPack,
      );
    },
    readFiles: async (name) => readPack(need(name).digest),
    readDoc: async (name, path, baseDir) => {
      const skill = need(name);
      const files = skill.docs.includes(path) ? await readPack(skill.digest) : [];
      const doc = files.find((file) => file.path === path);
      if (doc) return docText(doc.content, baseDir);
      const docs = skill.docs.length === 0 ? 'it has none' : `it has ${skill.docs.join(', ')}`;
      throw new SkillmillError(
        'TOOL_INPUT_INVALID',
        `skill '${name}' has no doc '${path}'; ${docs}.`,
        {
          details: { docs: skill.docs },
        },
      );
    },
  };
}
