import type { SkillRunConfig } from '../../shared/config/config.js';
import { skillListDocsTool } from './skill-list-docs.js';
import { skillListToolsTool } from './skill-list-tools.js';
import { skillListTool } from './skill-list.js';
import { skillLoadTool } from './skill-load.js';
import { createSkillRunTool } from './skill-run.js';
import { skillSelectDocsTool } from './skill-select-docs.js';
import { skillSelectToolsTool } from './skill-select-tools.js';
import type { Tool } from './tool.js';

/** What the model may do with skills: everything, or read them only. */
export type SkillProfile = 'full' | 'knowledge_only';

const knowledge: readonly Tool[] = [
  skillListTool,
  skillListToolsTool,
  skillLoadTool,
  skillSelectToolsTool,
  skillListDocsTool,
  skillSelectDocsTool,
];

const unrestricted: SkillRunConfig = {
  allowedCommands: undefined,
  deniedCommands: undefined,
  hostInputs: [],
};

/** Made once for a configuration: the schemas would take a fifth of a short turn's time. */
const fullProfiles = new WeakMap<SkillRunConfig, readonly Tool[]>();

/** The skill tools of a profile: the one list that both the prompt and the loop are made from. */
export function skillTools(
  profile: SkillProfile,
  run: SkillRunConfig = unrestricted,
): readonly Tool[] {
  if (profile !== 'full') return knowledge;
  const made = fullProfiles.get(run) ?? [...knowledge, createSkillRunTool(run)];
  fullProfiles.set(run, made);
  return made;
}
