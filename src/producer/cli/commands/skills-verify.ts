import type { Command } from 'commander';
import { loadConfig } from '../../../shared/config/load-config.js';
import { compareWithLock, isAsLocked, readSkillLock } from '../../../shared/skills/skill-lock.js';
import type { CommandContext, Exit } from '../command-context.js';
import { counted, shown } from './skills-lines.js';
import { differenceLines, lockableSkills } from './skills-lock-state.js';
import { rootsOf, withRootOption, type RootOptions } from './skills-roots.js';

/** `skillmill skills verify`: what SKILLMILL_SKILLS_FROZEN=1 would refuse, and what is gone. */
export function addSkillsVerifyCommand(skills: Command, context: CommandContext, exit: Exit): void {
  withRootOption(skills.command('verify'))
    .description('compare the skills with the skills lock; exit 1 on any difference')
    .option('--json', 'print { changed, missing, extra } as JSON')
    .action(async (options: RootOptions & { json?: boolean }) => {
      const { lockPath } = loadConfig().skills;
      const lock = await readSkillLock(lockPath);
      const found = await lockableSkills(context, rootsOf(options), lockPath);
      const differences = compareWithLock(lock, found);
      const lines = differenceLines(differences);
      if (options.json === true) context.stdout(`${JSON.stringify(differences, null, 2)}\n`);
      else for (const line of lines) context.stdout(`${line}\n`);
      context.stderr(
        lines.length === 0
          ? `${counted(found.length, 'skill')} as ${shown(lockPath)} says`
          : `${counted(lines.length, 'difference')} from ${shown(lockPath)}`,
      );
      exit(isAsLocked(differences) ? 0 : 1);
    });
}
