import { z } from 'zod';
import { select, selectOf } from '../session/skill-state.js';
import { checkNames, docNames, requireLoaded, requireSkill } from './require-skill.js';
import { defineSkillTool } from './tool.js';

/** `skill_select_docs`: changes which documents of a loaded skill are selected; what is new comes back with the result. */
export const skillSelectDocsTool = defineSkillTool({
  name: 'skill_select_docs',
  description: 'Add, replace or clear the selected documents of a loaded skill.',
  parameters: z.object({
    skill_name: z.string().trim().min(1).max(255).describe('Name of a loaded skill'),
    docs: z
      .array(z.string().trim())
      .optional()
      .describe('Documents, as skill_list_docs names them'),
    include_all_docs: z.boolean().optional().describe('Select all of its documents'),
    mode: z.enum(['add', 'replace', 'clear']).default('replace'),
  }),
  execute({ skill_name, docs = [], include_all_docs, mode }, context) {
    const skill = requireSkill(context.skills, skill_name);
    const before = requireLoaded(context.skillState.get(), skill.name);
    checkNames(docs, skill.docs, { of: `The skill ${skill.name}`, noun: 'document' });
    const after = select(before.docs, mode, { names: docs, all: include_all_docs === true });
    context.skillState.set(selectOf(context.skillState.get(), skill.name, { docs: after }));
    return Promise.resolve({
      result: {
        skill: skill.name,
        mode,
        selected_docs: [...docNames(skill, after)],
        include_all_docs: after === '*',
      },
      shows: { skill: skill.name, body: false, docs: [...docNames(skill, after)] },
    });
  },
});
