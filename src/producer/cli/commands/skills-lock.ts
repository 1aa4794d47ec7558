import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { loadConfig } from '../../../shared/config/load-config.js';
import {
  compareWithLock,
  lockOf,
  lockText,
  readSkillLock,
  writeSkillLock,
} from '../../../shared/skills/skill-lock.js';
import type { Skill } from '../../../shared/skills/skill.js';
import type { CommandContext, Exit } from '../command-context.js';
import { counted, shown } from './skills-lines.js';
import { differenceLines, lockableSkills } from './skills-lock-state.js';
import { rootsOf, withRootOption, type RootOptions } from './skills-roots.js';

/** `skillmill skills lock`: accepts the skills as they are now. */
export function addSkillsLockCommand(skills: Command, context: CommandContext, exit: Exit): void {
  withRootOption(skills.command('lock'))
    .description('write the digest of every skill to the skills lock (SKILLMILL_SKILLS_LOCK)')
    .option('--check', 'write nothing; exit 1 when the lock is not what would be written')
    .action(async (options: RootOptions & { check?: boolean }) => {
      const { lockPath } = loadConfig().skills;
      const found = await lockableSkills(context, rootsOf(options), lockPath);
      if (options.check === true) exit((await isCurrent(context, lockPath, found)) ? 0 : 1);
      else await accept(context, lockPath, found);
    });
}

async function accept(
  context: CommandContext,
  lockPath: string,
  found: readonly Skill[],
): Promise<void> {
  const isNew = await writeSkillLock(lockPath, lockOf(found));
  const said = isNew ? 'wrote' : 'nothing changed in';
  context.stderr(`${said} ${shown(lockPath)}: ${counted(found.length, 'skill')}`);
}

async function isCurrent(
  context: CommandContext,
  lockPath: string,
  found: readonly Skill[],
): Promise<boolean> {
  const lock = await readSkillLock(lockPath);
  for (const line of differenceLines(compareWithLock(lock, found))) context.stdout(`${line}\n`);
  // Git may check files out with CRLF.
  const text = (await readFile(lockPath, 'utf8')).replaceAll('\r\n', '\n');
  const same = text === lockText(lockOf(found));
  context.stderr(
    same
      ? `${shown(lockPath)} is current: ${counted(found.length, 'skill')}`
      : `${shown(lockPath)} is not what \`skillmill skills lock\` would write`,
  );
  return same;
}
