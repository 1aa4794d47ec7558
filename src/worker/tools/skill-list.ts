import { z } from 'zod';
import { defineSkillTool } from './tool.js';

/** `skill_list`: the names of the skills that this turn may use. */
export const skillListTool = defineSkillTool({
  name: 'skill_list',
  description: 'List the names of the skills that are available.',
  parallel: true,
  parameters: z.object({}),
  execute: (_args, { skills }) =>
    Promise.resolve({ result: skills.skills.map((skill) => skill.name) }),
});
