import type { Command } from 'commander';
import { onOneLine } from '../../../shared/skills/source-text.js';
import type { Skill } from '../../../shared/skills/skill.js';
import type { CommandContext } from '../command-context.js';
import { shortDigest, shown } from './skills-lines.js';
import {
  reportDiagnostics,
  rootsOf,
  withRootOption,
  withSkills,
  type RootOptions,
} from './skills-roots.js';

/** `skillmill skills list`: every skill that a worker would offer. */
export function addSkillsListCommand(skills: Command, context: CommandContext): void {
  withRootOption(skills.command('list'))
    .description('list the skills of the roots; what is wrong with them goes to stderr')
    .option('--json', 'print { skills, diagnostics } as JSON')
    .action(async (options: RootOptions & { json?: boolean }) => {
      const roots = rootsOf(options);
      await withSkills(roots, ({ skills: found, diagnostics }) => {
        if (options.json === true) {
          const list = { skills: found.map(summary), diagnostics };
          context.stdout(`${JSON.stringify(list, null, 2)}\n`);
          return;
        }
        reportDiagnostics(context, diagnostics);
        if (found.length === 0) context.stderr(`no skills in ${roots.map(shown).join(', ')}`);
        context.stdout(skillLines(found));
      });
    });
}

function summary({ name, description, dir, digest, tools, docs }: Skill): Partial<Skill> {
  return { name, description, dir, digest, tools, docs };
}

function skillLines(skills: readonly Skill[]): string {
  const width = Math.min(32, Math.max(...skills.map(({ name }) => name.length)));
  return skills
    .map(({ name, description, dir, digest }) => {
      const head = `${shown(name).padEnd(width)}  ${shortDigest(digest)}  ${shown(dir)}`;
      return `${head}\n    ${shown(onOneLine(description)) || '(no description)'}\n`;
    })
    .join('');
}
