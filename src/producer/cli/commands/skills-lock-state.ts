import { realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { LockDifferences } from '../../../shared/skills/skill-lock.js';
import type { Skill } from '../../../shared/skills/skill.js';
import type { CommandContext } from '../command-context.js';
import { shortDigest, shown } from './skills-lines.js';
import { reportDiagnostics, requireRoots, withSkills } from './skills-roots.js';

/** The skills that a lock is made of or compared with; what is wrong with them goes to stderr. @throws SkillmillError CONFIG_INVALID when a root cannot be read or the lock lies in a skill */
export async function lockableSkills(
  context: CommandContext,
  roots: readonly string[],
  lockPath: string,
): Promise<readonly Skill[]> {
  return withSkills(roots, async ({ skills, diagnostics }) => {
    requireRoots(diagnostics);
    reportDiagnostics(context, diagnostics);
    await requireOutside(lockPath, skills);
    return skills;
  });
}

/** A line for each difference, for people. */
export function differenceLines({ changed, missing, extra }: LockDifferences): string[] {
  return [
    ...changed.map(
      ({ name, locked, found }) =>
        `changed ${shown(name)}: locked ${shortDigest(locked)}, found ${shortDigest(found)}`,
    ),
    ...missing.map(({ name, locked }) => `missing ${shown(name)}: locked ${shortDigest(locked)}`),
    ...extra.map(({ name, found }) => `extra ${shown(name)}: found ${shortDigest(found)}`),
  ];
}

/** A lock among the files of a skill would change that skill's digest when it is written. */
async function requireOutside(lockPath: string, skills: readonly Skill[]): Promise<void> {
  const folder = await realpath(dirname(lockPath)).catch(() => dirname(lockPath));
  const path = join(folder, basename(lockPath));
  const around = skills.find(({ dir }) => path.startsWith(dir + sep));
  if (around === undefined) return;
  throw new SkillmillError(
    'CONFIG_INVALID',
    `The skills lock ${lockPath} lies in the folder of the skill ${JSON.stringify(around.name)} and would change its digest; let SKILLMILL_SKILLS_LOCK name a file outside.`,
  );
}
