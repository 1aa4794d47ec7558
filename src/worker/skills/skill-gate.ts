import type { SkillEntry } from '../../shared/config/operator-config.js';
import { errorMessage } from '../../shared/errors/skillmill-error.js';
import type { LogFields, LogLevel } from '../../shared/logging/logger.js';
import type { Skill, SkillRequirements } from '../../shared/skills/skill.js';
import type { Inventory, SandboxInventory } from './sandbox-inventory.js';

/** Decides which skills can be used here, and what their commands find in their environment. */
export interface SkillGate {
  /** By name: why a skill cannot be used. A skill of which that cannot be told now (no engine answers) is let through. */
  refusals(skills: readonly Skill[]): Promise<ReadonlyMap<string, string>>;
  /** Variables that the operator sets for the skill's commands. */
  envOf(skill: Skill): Readonly<Record<string, string>>;
}

export interface SkillGateOptions {
  readonly entries: ReadonlyMap<string, SkillEntry>;
  readonly inventory: Pick<SandboxInventory, 'lookUp'>;
  readonly log: (level: LogLevel, message: string, fields: LogFields) => void;
}

/** A gate by what skills require, what the operator says of them, and what the sandboxes' image holds. */
export function createSkillGate({ entries, inventory, log }: SkillGateOptions): SkillGate {
  const entryOf = (skill: Skill) =>
    entries.get(skill.requirements?.key ?? skill.name) ?? entries.get(skill.name);
  const envOf = (skill: Skill) => environmentOf(skill, entryOf(skill));
  const told = new Map<string, string>();
  const tell = (skill: string, reason: string) => {
    if (told.get(skill) === reason) return;
    told.set(skill, reason);
    log('warn', 'a skill cannot be used here', { skill, reason });
  };
  const lookUp = async (skills: readonly Skill[]) => {
    const needs = skills.flatMap(({ requirements }) => requirements ?? []).filter(isConditional);
    if (needs.length === 0) return undefined;
    const programs = needs.flatMap(({ bins, anyBins }) => [...bins, ...anyBins]);
    const variables = needs.flatMap(({ env }) => env);
    try {
      return await inventory.lookUp({ programs, variables });
    } catch (error) {
      log('warn', 'what skills require could not be looked up', { reason: errorMessage(error) });
      return undefined;
    }
  };
  return {
    envOf,
    async refusals(skills) {
      const there = await lookUp(skills);
      const refused = new Map<string, string>();
      for (const skill of skills) {
        const reason = refusalOf(skill, entryOf(skill), there);
        if (reason === undefined) continue;
        refused.set(skill.name, reason);
        tell(skill.name, reason);
      }
      return refused;
    },
  };
}

function isConditional({ always, os, bins, anyBins, env }: SkillRequirements): boolean {
  return !always && os.length + bins.length + anyBins.length + env.length > 0;
}

function environmentOf(skill: Skill, entry: SkillEntry | undefined): Record<string, string> {
  const primary = skill.requirements?.primaryEnv;
  const key = entry?.apiKey;
  return {
    ...(primary !== undefined && key !== undefined && { [primary]: key }),
    ...entry?.env,
  };
}

/** In tRPC-Agent's order: disabled, always, system, programs, one of these programs, variables. */
function refusalOf(
  skill: Skill,
  entry: SkillEntry | undefined,
  there: Inventory | undefined,
): string | undefined {
  if (entry?.enabled === false) return `The skill ${skill.name} is disabled by the operator.`;
  const { requirements } = skill;
  if (requirements === undefined || there === undefined || !isConditional(requirements)) {
    return undefined;
  }
  const lacks = lacking(requirements, there, environmentOf(skill, entry));
  return lacks === undefined ? undefined : `The skill ${skill.name} cannot be used here: ${lacks}.`;
}

function lacking(
  { os, bins, anyBins, env }: SkillRequirements,
  there: Inventory,
  given: Readonly<Record<string, string>>,
): string | undefined {
  if (os.length > 0 && !os.includes(there.os)) {
    return `it is for ${shown(os)} and the sandbox runs ${there.os}`;
  }
  const programs = bins.filter((name) => !there.hasProgram(name));
  if (programs.length > 0) return `the sandbox’s image lacks ${shown(programs)}`;
  if (anyBins.length > 0 && !anyBins.some((name) => there.hasProgram(name))) {
    return `the sandbox’s image has none of ${shown(anyBins)}`;
  }
  const variables = env.filter((name) => !Object.hasOwn(given, name) && !there.hasVariable(name));
  if (variables.length > 0) return `the operator’s config does not set ${shown(variables)}`;
  return undefined;
}

/** Names from a skill's file, in bounds. */
function shown(names: readonly string[]): string {
  const first = names.slice(0, 10).map((name) => JSON.stringify(name.slice(0, 100)));
  return [...first, ...(names.length > 10 ? ['…'] : [])].join(', ');
}
