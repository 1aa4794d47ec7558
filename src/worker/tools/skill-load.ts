import { z } from 'zod';
import { loadSkill } from '../session/skill-state.js';
import { checkNames, docNames, requireSkill } from './require-skill.js';
import { defineSkillTool } from './tool.js';

/** `skill_load`: brings a skill's instructions, and the docs that are asked for, into the conversation. */
export const skillLoadTool = defineSkillTool({
  name: 'skill_load',
  description:
    'Load a skill: its full instructions, and on request its documents, come back as the result. Load a skill before you use it.',
  guidance: 'Load a skill with skill_load before you use it, and follow its instructions.',
  parameters: z.object({
    skill_name: z.string().trim().min(1).max(255).describe('Name of the skill'),
    docs: z.array(z.string().trim()).optional().describe('Documents of the skill to load with it'),
    include_all_docs: z.boolean().optional().describe('Load all of its documents'),
  }),
  execute(args, context) {
    const skill = requireSkill(context.skills, args.skill_name);
    checkNames(args.docs ?? [], skill.docs, { of: `The skill ${skill.name}`, noun: 'document' });
    const docs = args.include_all_docs === true ? '*' : args.docs;
    const state = loadSkill(context.skillState.get(), skill.name, { docs, tools: skill.tools });
    context.skillState.set(state);
    context.onSkillUsed(skill.name, 'loaded');
    const selected = state.find((loaded) => loaded.name === skill.name);
    return Promise.resolve({
      result: `skill '${skill.name}' loaded`,
      shows: {
        skill: skill.name,
        body: true,
        docs: [...docNames(skill, selected?.docs ?? [])],
        tools: [...context.toolbox.schemasFor(skill, selected?.tools ?? [])],
      },
    });
  },
});
