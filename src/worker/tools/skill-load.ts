import { z } from 'zod';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Skill } from '../../shared/skills/skill.js';
import { loadSkill, type Selection } from '../session/skill-state.js';
import { unknownSkillMessage, type TurnSkills } from '../skills/turn-skills.js';
import { defineTool } from './tool.js';

/** `skill_load`: brings a skill's instructions, and the docs that are asked for, into the conversation. */
export const skillLoadTool = defineTool({
  name: 'skill_load',
  description:
    'Load a skill: its full instructions, and on request its documents, come back as the result. Load a skill before you use it.',
  parameters: z.object({
    skill_name: z.string().trim().min(1).describe('Name of the skill'),
    docs: z.array(z.string()).optional().describe('Documents of the skill to load with it'),
    include_all_docs: z.boolean().optional().describe('Load all of its documents'),
  }),
  execute(args, context) {
    const skill = requireSkill(context.skills, args.skill_name);
    const docs = args.include_all_docs === true ? '*' : args.docs;
    const selected = docs === undefined ? undefined : checkDocs(skill, docs);
    const state = loadSkill(context.skillState.get(), skill.name, {
      docs: selected,
      tools: skill.tools,
    });
    context.skillState.set(state);
    context.onSkillUsed(skill.name, 'loaded');
    const now = state.find((loaded) => loaded.name === skill.name)?.docs ?? [];
    return Promise.resolve({
      result: `skill '${skill.name}' loaded`,
      shows: { skill: skill.name, body: true, docs: [...docNames(skill, now)] },
    });
  },
});

/** The skill of this name. @throws SkillmillError SKILL_NOT_FOUND with the names that may have been meant */
export function requireSkill(skills: TurnSkills, name: string): Skill {
  const skill = skills.get(name);
  if (skill !== undefined) return skill;
  throw new SkillmillError('SKILL_NOT_FOUND', unknownSkillMessage(skills, name));
}

/** A selection of docs that all exist. @throws SkillmillError INPUT_INVALID with the names that do */
export function checkDocs(skill: Skill, docs: Selection): Selection {
  if (docs === '*') return docs;
  const missing = docs.filter((doc) => !skill.docs.includes(doc));
  if (missing.length === 0) return [...new Set(docs)];
  const there = skill.docs.length === 0 ? 'it has none' : `it has ${skill.docs.join(', ')}`;
  throw new SkillmillError(
    'INPUT_INVALID',
    `The skill ${skill.name} has no document ${missing.map((doc) => JSON.stringify(doc)).join(', ')}; ${there}.`,
  );
}

/** The docs that a selection stands for. */
export function docNames(skill: Skill, selection: Selection): readonly string[] {
  return selection === '*' ? skill.docs : selection;
}
