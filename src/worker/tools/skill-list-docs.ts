import { z } from 'zod';
import { requireSkill } from './require-skill.js';
import { defineSkillTool } from './tool.js';

/** `skill_list_docs`: the documents of a skill, by relative path. */
export const skillListDocsTool = defineSkillTool({
  name: 'skill_list_docs',
  description: 'List the documents of a skill.',
  guidance: 'skill_list_docs and skill_select_docs bring single documents of a skill.',
  parallel: true,
  parameters: z.object({
    skill_name: z.string().trim().min(1).max(255).describe('Name of the skill'),
  }),
  execute: ({ skill_name }, { skills }) =>
    Promise.resolve({ result: requireSkill(skills, skill_name).docs }),
});
