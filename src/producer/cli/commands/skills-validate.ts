import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { SkillFinding } from '../../../shared/skills/validate-skill.js';
import type { CommandContext, Exit } from '../command-context.js';
import { counted, findingLine } from './skills-lines.js';

/** `skillmill skills validate`: the strict reading, for authors and CI. */
export function addSkillsValidateCommand(
  skills: Command,
  context: CommandContext,
  exit: Exit,
): void {
  skills
    .command('validate')
    .description('hold skills against the Agent Skills specification; exit 1 on any error')
    .argument('<path...>', 'skill folders, SKILL.md files or folders of skills')
    .option('--json', 'print { findings, errors, warnings } as JSON')
    .action(async (paths: string[], options: { json?: boolean }) => {
      await requireAll(paths);
      const findings = await findingsOf(paths);
      const errors = findings.filter(({ severity }) => severity === 'error').length;
      const warnings = findings.length - errors;
      if (options.json === true) {
        context.stdout(`${JSON.stringify({ findings, errors, warnings }, null, 2)}\n`);
      } else {
        for (const finding of findings) context.stdout(`${findingLine(finding)}\n`);
        context.stderr(`${counted(errors, 'error')}, ${counted(warnings, 'warning')}`);
      }
      exit(errors > 0 ? 1 : 0);
    });
}

async function findingsOf(paths: readonly string[]): Promise<SkillFinding[]> {
  const { validateSkills } = await import('../../../shared/skills/validate-skill.js');
  const findings: SkillFinding[] = [];
  for (const path of new Set(paths)) findings.push(...(await validateSkills(path)));
  return findings;
}

async function requireAll(paths: readonly string[]): Promise<void> {
  const isThere = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );
  const there = await Promise.all(paths.map(isThere));
  const missing = paths.filter((_, at) => there[at] !== true);
  if (missing.length === 0) return;
  const hint = missing.some((path) => /^https?:/i.test(path)) ? ' URLs are not supported.' : '';
  throw new SkillmillError(
    'INPUT_INVALID',
    `There is no such file or folder: ${missing.map((path) => JSON.stringify(path)).join(', ')}.${hint}`,
    { details: { missing } },
  );
}
