import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describeFaults, inputFaults, type InputFault } from '../errors/describe-issues.js';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';
import type { Config } from './config.js';
import { sliceEnvironment } from './config.js';
import { variableList, type Environment } from './env-schema.js';
import type { Variable } from './variables/variable.js';

export type RawEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment, `.env` of the working folder under it, and checks all of it at once.
 * @throws SkillmillError CONFIG_INVALID that names every wrong variable, what it holds and what it may hold
 */
export function loadConfig(overrides: RawEnvironment = {}): Config {
  const raw = {
    ...definedOnly(readDotEnv('.env')),
    ...definedOnly(process.env),
    ...definedOnly(overrides),
  };
  return sliceEnvironment(parseEnvironment(raw), raw);
}

/** True when colour would be noise: NO_COLOR is set and not empty (https://no-color.org). */
export function noColorAsked(): boolean {
  return (process.env['NO_COLOR'] ?? '') !== '';
}

function readDotEnv(path: string): Record<string, string | undefined> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new SkillmillError(
      'CONFIG_INVALID',
      `${path} could not be read: ${errorMessage(error)}.`,
    );
  }
  return parseEnv(text);
}

function definedOnly(env: RawEnvironment): Record<string, string> {
  // An empty variable is what shells and compose files pass on for "not set".
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => (entry[1] ?? '') !== ''),
  );
}

function parseEnvironment(raw: RawEnvironment): Environment {
  const faults: InputFault[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of variableList) {
    values[name] = parseVariable(raw, [name, variable], faults);
  }
  if (faults.length > 0) throw invalid(faults);
  return environmentOf(values);
}

/** One variable's value; a fault is added to the list and stands for the value until all are known. */
function parseVariable(
  raw: RawEnvironment,
  [name, variable]: readonly [string, Variable],
  faults: InputFault[],
): unknown {
  const source = [name, ...(variable.aliases ?? [])].find((known) => raw[known] !== undefined);
  const text = source === undefined ? variable.default : raw[source];
  if (text === undefined) return undefined;
  const parsed = variable.schema.safeParse(text);
  if (parsed.success) return parsed.data;
  const held = variable.secret === true ? 'a secret' : withoutPassword(text);
  const may = inputFaults(parsed.error)[0]?.message ?? 'is not valid';
  faults.push({ path: source ?? name, message: `holds ${held}, but it ${may}` });
  return undefined;
}

/** Types what the table's own schemas have just checked; the one place where the table and the type must agree. */
function environmentOf(values: Record<string, unknown>): Environment {
  const complete = (candidate: Record<string, unknown>): candidate is Environment =>
    variableList.every(
      ([name, variable]) => variable.default === undefined || candidate[name] !== undefined,
    );
  if (!complete(values)) throw new SkillmillError('INTERNAL', 'The environment lost a variable.');
  return values;
}

/** What stands before an @ may be a password, whatever the rest looks like. */
function withoutPassword(text: string): string {
  return JSON.stringify(text.replace(/^.*@/s, '***@'));
}

/** The error for wrong settings, all of them in one sentence list. */
function invalid(faults: readonly InputFault[]): SkillmillError {
  return new SkillmillError('CONFIG_INVALID', `Wrong settings: ${describeFaults(faults)}.`, {
    details: { faults },
  });
}
