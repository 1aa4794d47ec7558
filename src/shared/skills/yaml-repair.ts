import type { SkillRule } from './skill-diagnostic.js';
import { readYaml } from './yaml-block.js';

/** One thing that was mended, with its 1-based line within the block. */
export interface RepairNote {
  readonly rule: SkillRule;
  readonly line: number;
  readonly message: string;
}

/** The mended block (as many lines as before) and what was mended in it. */
export interface Repair {
  readonly text: string;
  readonly notes: readonly RepairNote[];
}

/** Keys whose value is one text, whatever it looks like. */
const textKeys: ReadonlySet<string> = new Set(['name', 'description', 'license', 'compatibility']);
const keyLine = /^([A-Za-z0-9_][\w.-]*)[ \t]*:(?:[ \t](.*))?$/;
const blockIndicator = /^([|>])[-+\d]{0,2}[ \t]*(?:#.*)?$/;

/**
 * Mends a block that is not YAML as people write it, key by key: a value that cannot be read alone (`description: Use
 * when: x`, also with the colon on a continuation line) becomes the text it was written as; the other keys stay untouched.
 */
export function repairYaml(text: string): Repair {
  return mendBlock(text, 1);
}

function mendBlock(text: string, depth: number): Repair {
  const lines = dedent(text.split('\n'));
  const notes: RepairNote[] = [];
  const mended: string[] = [];
  for (let start = 0; start < lines.length;) {
    let end = start + 1;
    if (keyLine.test(lines[start] ?? '')) {
      while (end < lines.length && !keyLine.test(lines[end] ?? '')) end++;
    }
    mended.push(
      ...mendEntry({ lines: lines.slice(start, end), firstLine: start + 1, depth }, notes),
    );
    start = end;
  }
  return { text: mended.join('\n'), notes };
}

/** Plain lines of a value as YAML folds them: one space between lines, a blank line is a newline. */
export function foldLines(lines: readonly string[]): string {
  let folded = '';
  let blanks = 0;
  for (const line of lines.map((each) => each.trim())) {
    if (line === '') {
      blanks++;
      continue;
    }
    if (folded !== '') folded += blanks > 0 ? '\n'.repeat(blanks) : ' ';
    folded += line;
    blanks = 0;
  }
  return folded;
}

/** The lines of one key, in a block that is `depth` maps deep. */
interface Entry {
  readonly lines: string[];
  readonly firstLine: number;
  readonly depth: number;
}

// Each level is parsed again for the level above it: more would not be linear.
const maxNestedRepairs = 3;

function mendEntry(entry: Entry, notes: RepairNote[]): string[] {
  const { lines, firstLine } = entry;
  const match = keyLine.exec(lines[0] ?? '');
  if (!match || isReadable(lines)) return lines;
  const key = match[1] ?? '';

  const untabbed = lines.map((line) =>
    line.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  ')),
  );
  if (untabbed.some((line, at) => line !== lines[at]) && isReadable(untabbed)) {
    const line = firstLine + untabbed.findIndex((each, at) => each !== lines[at]);
    notes.push({
      rule: 'tab-indentation',
      line,
      message: 'YAML is indented with spaces, not with tabs; each tab was read as two spaces',
    });
    return untabbed;
  }

  const holdsMap = !textKeys.has(key) && (match[2] ?? '').trim() === '';
  const nested = holdsMap && entry.depth < maxNestedRepairs ? mendNested(entry) : undefined;
  if (nested) {
    notes.push(...nested.notes);
    return nested.lines;
  }
  notes.push(noteOf(key, lines, firstLine));
  const value = JSON.stringify(writtenText(match[2] ?? '', lines.slice(1)));
  // Blank lines keep the line numbers of what follows.
  return [`${key}: ${value}`, ...lines.slice(1).map(() => '')];
}

/** A map below a key (`metadata:`) is mended in the same way, one level down. */
function mendNested(entry: Entry): { lines: string[]; notes: RepairNote[] } | undefined {
  const { lines, firstLine, depth } = entry;
  const inner = mendBlock(lines.slice(1).join('\n'), depth + 1);
  const mended = [
    lines[0] ?? '',
    ...inner.text.split('\n').map((line) => (line === '' ? '' : `  ${line}`)),
  ];
  if (inner.notes.length === 0 || !isReadable(mended)) return undefined;
  return {
    lines: mended,
    notes: inner.notes.map((note) => ({ ...note, line: note.line + firstLine })),
  };
}

function noteOf(key: string, lines: readonly string[], firstLine: number): RepairNote {
  const at = lines.findIndex((line, index) => {
    const value = index === 0 ? line.slice(line.indexOf(':') + 1) : line;
    return /:(?:[ \t]|$)/.test(value);
  });
  if (at >= 0) {
    return {
      rule: 'unquoted-colon',
      line: firstLine + at,
      message: `the value of \`${key}\` holds a colon, so it must be quoted; it was read as the text it was written as`,
    };
  }
  return {
    rule: 'value-unreadable',
    line: firstLine,
    message: `the value of \`${key}\` is not valid YAML; it was read as the text it was written as; quote it`,
  };
}

function writtenText(first: string, rest: readonly string[]): string {
  const kept = rest.filter((line) => !line.startsWith('#'));
  const block = blockIndicator.exec(first.trim());
  if (block?.[1] === '|')
    return kept
      .map((line) => line.trim())
      .join('\n')
      .trim();
  const text = foldLines(block ? kept : [first, ...kept]);
  const quote = text[0];
  const isQuoted = text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1) : text;
}

function isReadable(lines: readonly string[]): boolean {
  const reading = readYaml(lines.join('\n'));
  return reading.kind === 'map' && reading.entries.size === 1;
}

/** Takes away an indentation that all lines share. */
function dedent(lines: readonly string[]): string[] {
  let shared = Infinity;
  for (const line of lines) {
    const indent = line.search(/[^ ]/);
    if (indent >= 0 && line[indent] !== '#') shared = Math.min(shared, indent);
  }
  if (shared === 0 || shared === Infinity) return [...lines];
  return lines.map((line) => line.slice(Math.min(shared, line.search(/[^ ]|$/))));
}
