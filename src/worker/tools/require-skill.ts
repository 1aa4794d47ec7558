import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Skill } from '../../shared/skills/skill.js';
import type { LoadedSkill, Selection, SkillState } from '../session/skill-state.js';
import { unknownSkillMessage, type TurnSkills } from '../skills/turn-skills.js';

/** The skill of this name. @throws SkillmillError SKILL_NOT_FOUND with the names that may have been meant, SKILL_INVALID, SKILL_UNAVAILABLE for one that may not be used */
export function requireSkill(skills: TurnSkills, name: string): Skill {
  const skill = skills.get(name);
  if (skill !== undefined) return skill;
  const code = skills.refusal(name)?.code ?? 'SKILL_NOT_FOUND';
  throw new SkillmillError(code, unknownSkillMessage(skills, name));
}

/** What is loaded of a skill. @throws SkillmillError SKILL_NOT_LOADED */
export function requireLoaded(state: SkillState, name: string): LoadedSkill {
  const loaded = state.find((candidate) => candidate.name === name);
  if (loaded !== undefined) return loaded;
  throw new SkillmillError(
    'SKILL_NOT_LOADED',
    `The skill ${name} is not loaded; call skill_load first.`,
  );
}

/** Checks that every name exists. @throws SkillmillError TOOL_INPUT_INVALID with the names that do */
export function checkNames(
  names: readonly string[],
  existing: readonly string[],
  what: { readonly of: string; readonly noun: string },
): void {
  const missing = names.filter((name) => !existing.includes(name));
  if (missing.length === 0) return;
  const quoted = missing.map((name) => JSON.stringify(name)).join(', ');
  const there = existing.length === 0 ? 'there is none' : `there are ${existing.join(', ')}`;
  throw new SkillmillError(
    'TOOL_INPUT_INVALID',
    `${what.of} has no ${what.noun} ${quoted}; ${there}.`,
  );
}

/** The docs that a selection stands for, of those that there are. */
export function docNames(skill: Skill, selection: Selection): readonly string[] {
  return selection === '*' ? skill.docs : selection.filter((doc) => skill.docs.includes(doc));
}
