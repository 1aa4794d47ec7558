import { z } from 'zod';
import { defineTool } from './tool.js';

/** `skill_list`: the names of the skills that this turn may use. */
export const skillListTool = defineTool({
  name: 'skill_list',
  description: 'List the names of the skills that are available.',
  parameters: z.object({}),
  execute: (_args, { skills }) =>
    Promise.resolve({ result: skills.skills.map((skill) => skill.name) }),
});
