import { withBaseDir } from '../../shared/skills/skill-docs.js';
import type { SkillSnapshot } from '../../shared/skills/skill-snapshot.js';
import type { Skill, SkillFile } from '../../shared/skills/skill.js';

/** Why a skill that is there may not be used: it is not what the skills lock says, or what it requires is not here. */
export interface Refusal {
  readonly code: 'SKILL_INVALID' | 'SKILL_UNAVAILABLE';
  readonly message: string;
}

/** What is decided of a snapshot's skills before a turn sees them. */
export interface SkillRules {
  readonly refusals: ReadonlyMap<string, Refusal>;
  readonly envOf: (skill: Skill) => Readonly<Record<string, string>>;
}

const noRules: SkillRules = { refusals: new Map(), envOf: () => ({}) };

/**
 * The skills that one turn sees: those allowed to it, as they were when it began. A hidden skill is answered
 * exactly as a missing one, since it is not in here.
 */
export interface TurnSkills {
  /** Sorted by name. */
  readonly skills: readonly Skill[];
  get(name: string): Skill | undefined;
  /** Why a skill that is there may not be used. */
  refusal(name: string): Refusal | undefined;
  /** Names that may have been meant, nearest first. */
  suggest(name: string): readonly string[];
  /** A doc's text, `__BASE_DIR__` filled in. @throws SkillmillError SKILL_INVALID */
  readDoc(skill: Skill, path: string): Promise<string>;
  /** The body, `__BASE_DIR__` filled in. */
  body(skill: Skill): string;
  /** Variables that the operator sets for the skill's commands. */
  envOf(skill: Skill): Readonly<Record<string, string>>;
  /** Every file of the skill, for staging. @throws SkillmillError SKILL_INVALID */
  readFiles(skill: Skill): Promise<readonly SkillFile[]>;
}

/** A skill's folder in the workspace. The variable is right in every executor, and tells the model nothing of the host. */
export function baseDirOf(skill: Skill): string {
  return `$SKILLS_DIR/${skill.name}`;
}

/** A snapshot of the repository as one turn sees it: `__BASE_DIR__` is the skill's folder in the turn's workspace. */
export function openTurnSkills(seen: SkillSnapshot, rules: SkillRules = noRules): TurnSkills {
  const { refusals, envOf } = rules;
  const usable = seen.skills.filter(({ name }) => !refusals.has(name)).map(({ name }) => name);
  const snapshot = refusals.size === 0 ? seen : seen.allowed(usable);
  return {
    skills: snapshot.skills,
    get: (name) => snapshot.get(name),
    refusal: (name) => refusals.get(name),
    suggest: (name) => snapshot.suggest(name),
    readDoc: (skill, path) => snapshot.readDoc(skill.name, path, baseDirOf(skill)),
    envOf,
    body: (skill) => withBaseDir(skill.body, baseDirOf(skill)),
    readFiles: (skill) => snapshot.readFiles(skill.name),
  };
}

/** A sentence for a name that no skill has which may be used. */
export function unknownSkillMessage(skills: TurnSkills, name: string): string {
  const refusal = skills.refusal(name);
  if (refusal !== undefined) return refusal.message;
  const near = skills.suggest(name);
  const all = skills.skills.map((skill) => skill.name);
  const shown = near.length > 0 ? near : all.slice(0, 20);
  const hint =
    shown.length === 0
      ? 'There are no skills.'
      : near.length > 0
        ? `Did you mean ${near.join(', ')}?`
        : `There are: ${shown.join(', ')}${all.length > shown.length ? ', …' : ''}.`;
  return `There is no skill ${JSON.stringify(name.slice(0, 255))}. ${hint}`;
}
