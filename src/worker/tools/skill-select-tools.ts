import { z } from 'zod';
import { select, selectOf } from '../session/skill-state.js';
import { checkNames, requireLoaded, requireSkill } from './require-skill.js';
import { defineSkillTool } from './tool.js';

/** `skill_select_tools`: changes which tools of the toolbox a loaded skill makes active; the operator's list is the limit. */
export const skillSelectToolsTool = defineSkillTool({
  name: 'skill_select_tools',
  description: 'Add, replace or clear the tools that a loaded skill makes active.',
  guidance: 'skill_select_tools changes which tools a loaded skill makes active.',
  parameters: z.object({
    skill_name: z.string().trim().min(1).max(255).describe('Name of a loaded skill'),
    tools: z.array(z.string().trim()).optional().describe('Names of tools'),
    include_all_tools: z.boolean().optional().describe('Select all tools that the skill names'),
    mode: z.enum(['add', 'replace', 'clear']).default('replace'),
  }),
  execute({ skill_name, tools = [], include_all_tools, mode }, context) {
    const skill = requireSkill(context.skills, skill_name);
    const before = requireLoaded(context.skillState.get(), skill.name);
    const existing = [...new Set([...skill.tools, ...context.toolbox.names])];
    checkNames(tools, existing, { of: `The skill ${skill.name}`, noun: 'tool' });
    const after = select(before.tools, mode, { names: tools, all: include_all_tools === true });
    context.skillState.set(selectOf(context.skillState.get(), skill.name, { tools: after }));
    return Promise.resolve({
      result: {
        skill: skill.name,
        mode,
        selected_tools: after === '*' ? skill.tools : after,
        include_all_tools: after === '*',
      },
      shows: {
        skill: skill.name,
        body: false,
        docs: [],
        tools: [...context.toolbox.schemasFor(skill, after)],
      },
    });
  },
});
