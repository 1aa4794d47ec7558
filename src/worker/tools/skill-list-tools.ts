import { z } from 'zod';
import { requireSkill } from './require-skill.js';
import { defineSkillTool } from './tool.js';

/** `skill_list_tools`: the tools that a skill's own text names. */
export const skillListToolsTool = defineSkillTool({
  name: 'skill_list_tools',
  description: 'List the tools that a skill names in its Tools section.',
  guidance: 'skill_list_tools shows which tools a skill names before you load it.',
  parallel: true,
  parameters: z.object({
    skill_name: z.string().trim().min(1).max(255).describe('Name of the skill'),
  }),
  execute: ({ skill_name }, { skills }) =>
    Promise.resolve({ result: { available_tools: requireSkill(skills, skill_name).tools } }),
});
