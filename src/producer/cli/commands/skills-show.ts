import type { Command } from 'commander';
import { onOneLine } from '../../../shared/skills/source-text.js';
import type { SkillSnapshot } from '../../../shared/skills/skill-snapshot.js';
import type { Skill } from '../../../shared/skills/skill.js';
import type { CommandContext } from '../command-context.js';
import { plainPrintable } from '../printable.js';
import { counted, shown } from './skills-lines.js';
import {
  isRootRule,
  reportDiagnostics,
  rootsOf,
  withRootOption,
  withSkills,
  type RootOptions,
} from './skills-roots.js';

interface ListedFile {
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
}

/** `skillmill skills show`: all that is known of one skill. */
export function addSkillsShowCommand(skills: Command, context: CommandContext): void {
  withRootOption(skills.command('show'))
    .description('show one skill: manifest, tools, docs, files, digest and body')
    .argument('<name>', 'name of the skill')
    .option('--json', 'print the skill, its files and its diagnostics as one JSON document')
    .action(async (name: string, options: RootOptions & { json?: boolean }) => {
      await withSkills(rootsOf(options), async (snapshot) => {
        const skill = snapshot.get(name);
        if (skill === undefined) reportDiagnostics(context, reasonsFor(snapshot, name));
        const files = await listFiles(snapshot, name); // says SKILL_NOT_FOUND, with what may be meant
        if (skill === undefined) return;
        const { diagnostics } = snapshot.allowed([name]);
        if (options.json === true) {
          context.stdout(`${JSON.stringify({ ...skill, files, diagnostics }, null, 2)}\n`);
          return;
        }
        reportDiagnostics(context, diagnostics);
        context.stdout(`${factLines(skill, files)}\n${plainPrintable(skill.body).trimEnd()}\n`);
      });
    });
}

async function listFiles(snapshot: SkillSnapshot, name: string): Promise<ListedFile[]> {
  const files = await snapshot.readFiles(name);
  return files.map(({ path, executable, content }) => ({
    path,
    bytes: content.byteLength,
    executable,
  }));
}

/** Why a skill may be missing: it was left out, or its root cannot be read. */
function reasonsFor(snapshot: SkillSnapshot, name: string): SkillSnapshot['diagnostics'] {
  return snapshot.diagnostics.filter(
    ({ severity, rule, file }) =>
      severity === 'error' && (isRootRule(rule) || file.split('/').includes(name)),
  );
}

function factLines(skill: Skill, files: readonly ListedFile[]): string {
  const facts: [label: string, value: string][] = [
    ['name', skill.name],
    ['description', onOneLine(skill.description)],
    ['license', skill.license ?? ''],
    ['compatibility', skill.compatibility ?? ''],
    ['allowed-tools', skill.allowedTools.join(', ')],
    ['metadata', pairs(skill.metadata)],
    ['requires', requirementsOf(skill)],
    ['tools', skill.tools.join(', ')],
    ['docs', skill.docs.join(', ')],
    ['folder', skill.dir],
    ['digest', skill.digest],
    ['files', `${counted(files.length, 'file')}, ${totalBytes(files)} bytes`],
  ];
  const lines = facts
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `${label.padEnd(14)}${shown(value)}\n`);
  return [...lines, ...files.map(fileLine)].join('');
}

function fileLine({ path, bytes, executable }: ListedFile): string {
  return `${String(bytes).padStart(12)} ${executable ? 'x' : '-'} ${shown(path)}\n`;
}

function pairs(metadata: Skill['metadata']): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

function requirementsOf({ requirements }: Skill): string {
  if (requirements === undefined) return '';
  const { os, bins, anyBins, env, primaryEnv } = requirements;
  const lists: [label: string, names: readonly string[]][] = [
    ['system', os],
    ['programs', bins],
    ['one of the programs', anyBins],
    ['variables', env],
    ['primary variable', primaryEnv === undefined ? [] : [primaryEnv]],
  ];
  return lists
    .filter(([, names]) => names.length > 0)
    .map(([label, names]) => `${label} ${names.join(', ')}`)
    .join('; ');
}

function totalBytes(files: readonly ListedFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
