import type { Command } from 'commander';
import type { CommandContext, Exit } from '../command-context.js';
import { addSkillsListCommand } from './skills-list.js';
import { addSkillsLockCommand } from './skills-lock.js';
import { addSkillsShowCommand } from './skills-show.js';
import { addSkillsValidateCommand } from './skills-validate.js';
import { addSkillsVerifyCommand } from './skills-verify.js';

/** `skillmill skills`: the skills as a worker with these settings sees them; needs no Redis. */
export function addSkillsCommand(program: Command, context: CommandContext, exit: Exit): void {
  const skills = program.command('skills').description('look at, check and pin skills');
  addSkillsListCommand(skills, context);
  addSkillsShowCommand(skills, context);
  addSkillsValidateCommand(skills, context, exit);
  addSkillsLockCommand(skills, context, exit);
  addSkillsVerifyCommand(skills, context, exit);
}
