import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { describeFaults, inputFaults, type InputFault } from '../errors/describe-issues.js';
import { errorMessage, SkillmillError } from '../errors/skillmill-error.js';
import {
  budgetsSchema,
  noBudgets,
  pricesSchema,
  type Budgets,
  type Prices,
} from './budget-config.js';
import { environmentNameFault } from './environment-name.js';

/** What a visibility filter may look at of a skill. */
export interface SkillSummary {
  readonly name: string;
  readonly description: string;
}

/** What a visibility filter may look at of the turn that asks. */
export interface TurnFacts {
  readonly tenant: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What the operator says of one skill. */
export interface SkillEntry {
  /** false: the skill is not offered. */
  readonly enabled: boolean;
  /** Variables for its commands. */
  readonly env: Readonly<Record<string, string>>;
  /** The value of the variable that the skill names as its `primary_env`. */
  readonly apiKey?: string | undefined;
}

/** What the operator's config file says, once checked. */
export interface OperatorConfig {
  /** By the skill's key (its `skill_key`, else its name). */
  readonly skillEntries: ReadonlyMap<string, SkillEntry>;
  /** Is this skill there for this turn? One that is not is answered exactly as a missing one. */
  readonly isVisible?: ((skill: SkillSummary, turn: TurnFacts) => boolean) | undefined;
  readonly prices: Prices;
  readonly budgets: Budgets;
}

/** What holds without a config file. */
export const emptyOperatorConfig: OperatorConfig = {
  skillEntries: new Map(),
  prices: new Map(),
  budgets: noBudgets,
};

/** Names that are looked for in the working folder when SKILLMILL_CONFIG names no file. */
const usualNames = ['json', 'js', 'mjs', 'ts'].map((ending) => `skillmill.config.${ending}`);

/** A text, or the variable of the worker's own environment that holds it. */
const value = z.union(
  [z.string(), z.strictObject({ fromEnv: z.string().min(1, 'must not be empty') })],
  'must be a text or { "fromEnv": "NAME" }',
);
type Value = z.output<typeof value>;

const entrySchema = z.strictObject({
  enabled: z.boolean('must be true or false').default(true),
  env: z.record(z.string(), value).default({}),
  apiKey: value.optional(),
});

const configSchema = z.strictObject({
  skills: z
    .strictObject({
      entries: z.record(z.string(), entrySchema).default({}),
      isVisible: z
        .custom<NonNullable<OperatorConfig['isVisible']>>(
          (candidate) => typeof candidate === 'function',
          'must be a function (skill, turn) => boolean',
        )
        .optional(),
    })
    .prefault({}),
  prices: pricesSchema,
  budgets: budgetsSchema,
});

/**
 * Reads the operator's config file, `skillmill.config.json`, `.js`, `.mjs` or `.ts` of the working folder unless a path is given.
 * @throws SkillmillError CONFIG_INVALID, all faults at once; no message holds a value
 */
export async function readOperatorConfig(
  path: string | undefined,
  lookUp: (variable: string) => string | undefined,
): Promise<OperatorConfig> {
  const there = path === undefined ? usualNames.filter((name) => existsSync(name)) : [path];
  const [file] = there;
  if (file === undefined) return emptyOperatorConfig;
  if (there.length > 1) {
    throw new SkillmillError(
      'CONFIG_INVALID',
      `There are ${there.join(' and ')}, and only one would be read. Put everything into one of them, or name it with SKILLMILL_CONFIG.`,
    );
  }
  return checkOperatorConfig(await contentOf(file), file, lookUp);
}

/** Checks what a config file holds. @throws SkillmillError CONFIG_INVALID */
export function checkOperatorConfig(
  content: unknown,
  file: string,
  lookUp: (variable: string) => string | undefined,
): OperatorConfig {
  const parsed = configSchema.safeParse(content);
  if (!parsed.success) throw invalid(file, inputFaults(parsed.error));
  const { entries, isVisible } = parsed.data.skills;
  const faults: InputFault[] = [];
  const resolved = Object.entries(entries).map(([key, { enabled, env, apiKey }]) => {
    const at = `skills.entries.${key}`;
    const read = (field: string, given: Value) =>
      resolveValue(given, lookUp, (message) => faults.push({ path: `${at}.${field}`, message }));
    for (const name of Object.keys(env)) {
      const message = environmentNameFault(name);
      if (message !== undefined) faults.push({ path: `${at}.env.${name}`, message });
    }
    const variables = Object.entries(env).map(
      ([name, given]) => [name, read(`env.${name}`, given)] as const,
    );
    const key_ = apiKey === undefined ? undefined : read('apiKey', apiKey);
    return [key, { enabled, env: Object.fromEntries(variables), apiKey: key_ }] as const;
  });
  if (faults.length > 0) throw invalid(file, faults);
  const { prices, budgets } = parsed.data;
  return { skillEntries: new Map(resolved), isVisible, prices, budgets };
}

function resolveValue(
  given: Value,
  lookUp: (variable: string) => string | undefined,
  report: (message: string) => void,
): string {
  const text = typeof given === 'string' ? given : lookUp(given.fromEnv);
  if (text === undefined) {
    report('names a variable that is not set in the worker’s environment');
    return '';
  }
  if (text.includes('\0')) report('must not hold a NUL character');
  return text;
}

async function contentOf(file: string): Promise<unknown> {
  try {
    if (file.endsWith('.json')) return JSON.parse(await readFile(file, 'utf8'));
    const module: unknown = await import(pathToFileURL(resolve(file)).href);
    if (typeof module === 'object' && module !== null && 'default' in module) return module.default;
  } catch (error) {
    // V8 quotes the text around a fault of JSON, which may be a secret.
    const reason =
      error instanceof SyntaxError && file.endsWith('.json')
        ? `it is no JSON${placeOf(error)}`
        : file.endsWith('.ts')
          ? `${errorMessage(error)} (TypeScript needs Node 22.18; write it as .js otherwise)`
          : errorMessage(error);
    throw new SkillmillError('CONFIG_INVALID', `${file} could not be read: ${reason}.`);
  }
  throw new SkillmillError('CONFIG_INVALID', `${file} has no default export.`);
}

function placeOf(error: SyntaxError): string {
  const place = /\(line \d+ column \d+\)|at position \d+/.exec(error.message)?.[0];
  return place === undefined ? '' : ` (${place.replace(/[()]/g, '')})`;
}

function invalid(file: string, faults: readonly InputFault[]): SkillmillError {
  return new SkillmillError('CONFIG_INVALID', `${file}: ${describeFaults(faults)}.`, {
    details: { faults },
  });
}
