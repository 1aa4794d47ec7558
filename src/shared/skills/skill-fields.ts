import { quoted, type DiagnosticList } from './skill-diagnostic.js';
import { dangerMessage, isStrictName, maxNameLength, nameDanger } from './skill-name.js';
import type { YamlEntry, YamlValue } from './yaml-block.js';
import { foldLines } from './yaml-repair.js';

/** Longest description of the Agent Skills specification, in characters (code points). */
export const maxDescriptionLength = 1_024;
const maxCompatibilityLength = 500;
const maxReportedKeys = 20;
const knownKeys: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
]);

/** The front matter's keys by their proper names. */
export type Fields = ReadonlyMap<string, YamlEntry>;

/** Puts keys under their proper names (`Allowed_Tools` counts as `allowed-tools` unless that is there too) and reports the others. */
export function knownFields(
  entries: ReadonlyMap<string, YamlEntry>,
  found: DiagnosticList,
): Fields {
  const fields = new Map([...entries].filter(([key]) => knownKeys.has(key)));
  let unknown = 0;
  for (const [key, entry] of entries) {
    if (knownKeys.has(key)) continue;
    const proper = properKey(key);
    if (proper !== undefined && !fields.has(proper)) {
      found.warn(
        'key-spelling',
        `The key ${quoted(key)} was read as \`${proper}\`; write it so.`,
        entry.line,
      );
      fields.set(proper, entry);
    } else if (++unknown <= maxReportedKeys) {
      found.warn(
        'unknown-key',
        `The key ${quoted(key)} is not part of the Agent Skills specification and is ignored.`,
        entry.line,
      );
    }
  }
  return fields;
}

/** The skill's name (the folder's when it has none), or undefined when it is unsafe (CASES 7). */
export function readName(
  fields: Fields,
  folderName: string,
  found: DiagnosticList,
): string | undefined {
  const line = fields.get('name')?.line ?? 1;
  const written = textField(fields, 'name', found);
  const name = written === undefined || written === '' ? folderName : written;
  const danger = name === '' ? 'it is empty' : nameDanger(name);
  if (danger !== undefined) {
    found.error('name-unsafe', dangerMessage(name, danger), line);
    return undefined;
  }
  if (name !== written) {
    found.warn(
      'name-missing',
      `There is no name; the folder's name ${quoted(folderName)} is used.`,
      line,
    );
  } else if (name !== folderName) {
    const message = `The name ${quoted(name)} is not the name of its folder, ${quoted(folderName)}; the skill is known as ${quoted(name)} only.`;
    found.warn('name-folder-mismatch', message, line);
  }
  const length = codePoints(name);
  if (length > maxNameLength) {
    found.warn(
      'name-too-long',
      `The name has ${length} characters; at most ${maxNameLength} are allowed.`,
      line,
    );
  }
  if (!isStrictName(name)) {
    found.warn(
      'name-format',
      `The name ${quoted(name)} should be lower-case letters, digits and single hyphens.`,
      line,
    );
  }
  return name;
}

/** The description as written, never cut; `fallback` stands in for a missing one. */
export function readDescription(fields: Fields, fallback: string, found: DiagnosticList): string {
  const line = fields.get('description')?.line ?? 1;
  const written = textField(fields, 'description', found);
  if (written === undefined || written === '') {
    const instead = fallback === '' ? 'it stays empty' : 'the first paragraph of the body is used';
    found.warn(
      'description-missing',
      `There is no description; ${instead}. Say what the skill does and when to use it.`,
      line,
    );
    return fallback;
  }
  warnOfLength('description', written, maxDescriptionLength, { found, line });
  return written;
}

/** `license` and `compatibility`, where given. */
export function readOptionalTexts(
  fields: Fields,
  found: DiagnosticList,
): { license?: string; compatibility?: string } {
  const license = textField(fields, 'license', found);
  const compatibility = textField(fields, 'compatibility', found);
  if (compatibility !== undefined) {
    const line = fields.get('compatibility')?.line ?? 1;
    warnOfLength('compatibility', compatibility, maxCompatibilityLength, { found, line });
  }
  return {
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
  };
}

/** `allowed-tools`, a list or a string of names between spaces or commas; parentheses hold a name together (`Bash(git add:*)`). */
export function readAllowedTools(fields: Fields, found: DiagnosticList): readonly string[] {
  const entry = fields.get('allowed-tools');
  if (!entry || entry.value === null) return [];
  if (typeof entry.value === 'string') return unique(splitTools(entry.value));
  if (isList(entry.value)) {
    const names = entry.value.map((item) => (typeof item === 'string' ? item.trim() : undefined));
    if (names.includes(undefined)) {
      found.warn(
        'field-type',
        'Each item of `allowed-tools` must be a name; the others are ignored.',
        entry.line,
      );
    }
    return unique(names.flatMap((name) => (name === undefined || name === '' ? [] : [name])));
  }
  found.warn(
    'field-type',
    '`allowed-tools` must be a text or a list of names; it is ignored.',
    entry.line,
  );
  return [];
}

/** `metadata` as a map of texts; a nested value is kept as its JSON. */
export function readMetadata(
  fields: Fields,
  found: DiagnosticList,
): Readonly<Record<string, string>> {
  const entry = fields.get('metadata');
  if (!entry || entry.value === null) return {};
  if (typeof entry.value === 'string' || isList(entry.value)) {
    found.warn('field-type', '`metadata` must be a map of texts; it is ignored.', entry.line);
    return {};
  }
  const texts: [string, string][] = [];
  let nested = 0;
  for (const [key, value] of entry.value) {
    if (value !== null && typeof value !== 'string') nested++;
    texts.push([
      key,
      value === null ? '' : typeof value === 'string' ? value : JSON.stringify(plain(value)),
    ]);
  }
  if (nested > 0) {
    const message = `\`metadata\` must be a map of texts; ${nested} nested value(s) in it are kept as JSON text.`;
    found.warn('field-type', message, entry.line);
  }
  return Object.fromEntries(texts); // own properties, also for `__proto__`
}

/** A text field's value; one that YAML read as a map or list (`description: [draft]`, a colon on the next line) is the text it was written as. */
function textField(fields: Fields, key: string, found: DiagnosticList): string | undefined {
  const entry = fields.get(key);
  if (!entry || entry.value === null) return undefined;
  if (typeof entry.value === 'string') return entry.value.trim();
  const isMap = !isList(entry.value) && !entry.source.startsWith('{');
  const rule = isMap ? 'unquoted-colon' : 'field-type';
  const why = isMap
    ? 'holds a colon, so it must be quoted'
    : 'must be a text, so it must be quoted';
  found.warn(
    rule,
    `The value of \`${key}\` ${why}; it was read as the text it was written as.`,
    entry.valueLine,
  );
  return foldLines(entry.source.split('\n'));
}

function warnOfLength(
  key: 'description' | 'compatibility',
  text: string,
  limit: number,
  at: { found: DiagnosticList; line: number },
): void {
  const length = codePoints(text);
  if (length <= limit) return;
  at.found.warn(
    `${key}-too-long`,
    `The ${key} has ${length} characters; at most ${limit} are allowed.`,
    at.line,
  );
}

function codePoints(text: string): number {
  return Array.from(text).length;
}

function properKey(key: string): string | undefined {
  const proper = key.toLowerCase().replace(/allowed[ _-]?tools/, 'allowed-tools');
  return knownKeys.has(proper) ? proper : undefined;
}

function splitTools(text: string): string[] {
  const names: string[] = [];
  let name = '';
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(char)) {
      names.push(name);
      name = '';
    } else name += char;
  }
  return [...names, name.trim()].filter((each) => each !== '');
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function isList(value: YamlValue): value is readonly YamlValue[] {
  return Array.isArray(value);
}

function plain(value: YamlValue): unknown {
  if (value === null || typeof value === 'string') return value;
  if (isList(value)) return value.map(plain);
  return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner)]));
}
