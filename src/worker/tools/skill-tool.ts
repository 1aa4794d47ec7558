import { z } from 'zod';
import { defineSkillTool, type Tool } from './tool.js';

/** `skill_tool` (exposure `dispatch`): calls a tool of the toolbox by name, so that the list of tools never changes. */
export function dispatchTool(resolve: (name: string) => Pick<Tool, 'run'>): Tool {
  return defineSkillTool({
    name: 'skill_tool',
    description:
      'Call a tool that a loaded skill made active. Its name and parameters stand in the result that activated it.',
    guidance: 'Call the tools that a loaded skill describes with skill_tool(name, arguments).',
    parameters: z.object({
      name: z.string().trim().min(1).describe('Name of the tool'),
      arguments: z.looseObject({}).default({}).describe('Its arguments'),
    }),
    execute: async (args, context) => resolve(args.name).run(args.arguments, context),
  });
}
