import type { DiagnosticList } from './skill-diagnostic.js';
import type { SkillRequirements } from './skill.js';

/** Where the keys may stand below `metadata`: by themselves, or under the name of a product that reads them. */
const namespaces = ['skillmill', 'openclaw', 'clawdbot', 'moltbot'];
const ownKeys = ['requires', 'primary_env', 'primaryEnv', 'skill_key', 'skillKey', 'os', 'always'];

type Fields = Readonly<Record<string, unknown>>;

/** Reads the requirements from a skill's `metadata`, nested values of which are JSON text; undefined when it states none. */
export function readRequirements(
  metadata: Readonly<Record<string, string>>,
  found: DiagnosticList,
  line: number,
): SkillRequirements | undefined {
  const fields = requirementFields(metadata);
  if (fields === undefined) return undefined;
  const given = field(fields, 'requires');
  const requires = asFields(given) ?? {};
  if (given !== undefined && asFields(given) === undefined) {
    found.warn(
      'requires-format',
      '`requires` must be a map with bins, any_bins or env; it is ignored.',
      line,
    );
  }
  const always = field(fields, 'always');
  const key = text(field(fields, 'skill_key', 'skillKey'));
  const primaryEnv = text(field(fields, 'primary_env', 'primaryEnv'));
  return {
    ...(key !== undefined && { key }),
    always: always === true || always === 'true',
    os: names(field(fields, 'os') ?? field(requires, 'os')),
    bins: names(field(requires, 'bins')),
    anyBins: names(field(requires, 'any_bins', 'anyBins')),
    env: names(field(requires, 'env')),
    ...(primaryEnv !== undefined && { primaryEnv }),
  };
}

function requirementFields(metadata: Readonly<Record<string, string>>): Fields | undefined {
  if (ownKeys.some((key) => Object.hasOwn(metadata, key))) return metadata;
  for (const namespace of namespaces) {
    const fields = Object.hasOwn(metadata, namespace) ? asFields(metadata[namespace]) : undefined;
    if (fields !== undefined) return fields;
  }
  return undefined;
}

/** The first of these keys that is there. */
function field(fields: Fields, ...keys: readonly string[]): unknown {
  const key = keys.find((candidate) => Object.hasOwn(fields, candidate));
  return key === undefined ? undefined : fields[key];
}

function asFields(value: unknown): Fields | undefined {
  const read = typeof value === 'string' && value.startsWith('{') ? parsed(value) : value;
  return isFields(read) ? read : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of names, or one text with commas or spaces between them. */
function names(value: unknown): readonly string[] {
  const read = typeof value === 'string' && value.startsWith('[') ? parsed(value) : value;
  const items = Array.isArray(read) ? read : typeof read === 'string' ? read.split(/[\s,]+/) : [];
  const texts = items.flatMap((item: unknown) => text(item) ?? []);
  return [...new Set(texts)];
}

function text(value: unknown): string | undefined {
  const trimmed = typeof value === 'string' ? value.trim() : '';
  return trimmed === '' ? undefined : trimmed;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
