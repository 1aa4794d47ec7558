import type { Command } from 'commander';
import { loadConfig } from '../../../shared/config/load-config.js';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { SkillDiagnostic } from '../../../shared/skills/skill.js';
import type { SkillSnapshot } from '../../../shared/skills/skill-snapshot.js';
import type { CommandContext } from '../command-context.js';
import { findingLine } from './skills-lines.js';

/** The option that all commands share which look at the roots. */
export interface RootOptions {
  readonly root?: readonly string[];
}

const several = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** Adds `--root` to a command. */
export function withRootOption(command: Command): Command {
  return command.option(
    '--root <dir>',
    'folder with skills, in place of SKILLS_ROOT; may be repeated',
    several,
  );
}

/** The roots that the options name, else those of the settings. */
export function rootsOf(options: RootOptions): readonly string[] {
  return options.root ?? loadConfig().skills.roots;
}

/** Looks at the roots once; the snapshot can be read until `work` has ended. */
export async function withSkills<T>(
  roots: readonly string[],
  work: (snapshot: SkillSnapshot) => Promise<T> | T,
): Promise<T> {
  // Loaded here: no other command needs a YAML parser.
  const { openSkillRepository } = await import('../../../shared/skills/skill-repository.js');
  const repository = openSkillRepository(roots);
  try {
    return await work(await repository.snapshot());
  } finally {
    await repository.close();
  }
}

/** Says on stderr what is wrong with the skills, a line each. */
export function reportDiagnostics(
  context: CommandContext,
  diagnostics: readonly SkillDiagnostic[],
): void {
  for (const diagnostic of diagnostics) context.stderr(findingLine(diagnostic));
}

/** A lock of skills that were not looked at would be a wrong lock. @throws SkillmillError CONFIG_INVALID naming every root that cannot be read */
export function requireRoots(diagnostics: readonly SkillDiagnostic[]): void {
  const faults = diagnostics.filter(({ rule }) => isRootRule(rule));
  if (faults.length === 0) return;
  const said = faults.map(({ file, message }) => `${file}: ${message}`).join(' ');
  throw new SkillmillError('CONFIG_INVALID', `Not every skill root can be read. ${said}`);
}

/** Is it a rule about a root, and not about a skill? */
export function isRootRule(rule: string): boolean {
  return rule.startsWith('root-');
}
