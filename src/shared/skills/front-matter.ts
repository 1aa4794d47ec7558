import matter from 'gray-matter';
import { quoted, type DiagnosticList } from './skill-diagnostic.js';
import { readYaml, type YamlEntry, type YamlReading } from './yaml-block.js';
import { repairYaml } from './yaml-repair.js';

/** What stands before a Markdown body: its keys (lines count from the file's first line), nothing, or something that must not or cannot be read. */
export type FrontMatter =
  | {
      readonly kind: 'read';
      readonly entries: ReadonlyMap<string, YamlEntry>;
      readonly body: string;
    }
  | { readonly kind: 'absent'; readonly body: string }
  | { readonly kind: 'refused' };

// Real front matter stays under 8 KiB. The YAML library needs up to 0.8 s for 64 KiB of brackets, and a block that is
// mended is read several times, so what costs it time is bounded by number.
const maxChars = 32 * 1024;
const maxMarks = 1_500;
const costlyMarks = /[[\]{},?&*!%#"\n]|[:-](?=\s)/g;
// gray-matter looks for comments with a pattern that is quadratic in blank lines (for a pattern, U+2028 and U+2029 end lines too).
const longBlank = /(?:[\n\u2028\u2029][^\S\n\u2028\u2029]*){100}/;

/** Splits a normalised text (`\n` only, no byte order mark) and reads its YAML; refuses every other language before anything parses it; never throws, runs nothing. */
export function readFrontMatter(text: string, found: DiagnosticList): FrontMatter {
  const opening = findOpening(text);
  if (!opening) return { kind: 'absent', body: text };
  const language = opening.rest.trim();
  if (language !== '' && !/^ya?ml$/i.test(language)) {
    found.error(
      'front-matter-language',
      `The front matter's language is ${quoted(language)}; only YAML is read: the first line must be --- alone.`,
      opening.line,
    );
    return { kind: 'refused' };
  }
  const block = findClosing(text, opening, found);
  if (!block) return { kind: 'refused' };
  if (opening.start > 0) {
    found.warn('front-matter-late', 'The front matter must begin on the first line.', opening.line);
  }
  return readBlock(block, opening.line, found);
}

interface Opening {
  readonly start: number;
  /** 1-based. */
  readonly line: number;
  /** What follows the dashes on their line. */
  readonly rest: string;
  /** Offset of the line after it. */
  readonly next: number;
}

/** The first `---`, after nothing but white space and HTML comments. */
function findOpening(text: string): Opening | undefined {
  let at = 0;
  for (;;) {
    at += spaceAt(text, at);
    if (!text.startsWith('<!--', at)) break;
    const end = text.indexOf('-->', at + 4);
    if (end < 0) return undefined;
    at = end + 3;
  }
  if (!text.startsWith('---', at) || text.charAt(at + 3) === '-') return undefined;
  const end = text.indexOf('\n', at);
  const lineEnd = end < 0 ? text.length : end;
  return {
    start: at,
    line: lineAt(text, at),
    rest: text.slice(at + 3, lineEnd),
    next: lineEnd + 1,
  };
}

function spaceAt(text: string, at: number): number {
  const space = /\s*/y;
  space.lastIndex = at;
  return space.exec(text)?.[0].length ?? 0;
}

interface Block {
  readonly yaml: string;
  readonly body: string;
}

/**
 * Finds the closing `---` line. gray-matter ends the block at any line that starts with `---`, which would lose what
 * follows `--- MIT` (CASES 5): such a line is a fault here.
 */
function findClosing(text: string, opening: Opening, found: DiagnosticList): Block | undefined {
  let line = opening.line;
  for (let at = opening.next; at < text.length;) {
    line++;
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    if (text.startsWith('---', at)) {
      const rest = text.slice(at + 3, end).trim();
      if (rest === '') {
        return {
          yaml: text.slice(opening.next, Math.max(at - 1, opening.next)),
          body: text.slice(end + 1),
        };
      }
      found.error(
        'front-matter-closing',
        `This line starts with --- and goes on with ${quoted(rest)}: the front matter ends at a line of --- alone.`,
        line,
      );
      return undefined;
    }
    at = end + 1;
  }
  found.error(
    'front-matter-unclosed',
    'The front matter is never closed: end it with a line of --- alone.',
    opening.line,
  );
  return undefined;
}

function readBlock(block: Block, openingLine: number, found: DiagnosticList): FrontMatter {
  const marks =
    block.yaml.length > maxChars ? Infinity : (block.yaml.match(costlyMarks)?.length ?? 0);
  if (marks > maxMarks || longBlank.test(`\n${block.yaml}\n`)) {
    found.error(
      'front-matter-too-large',
      `The front matter is larger than is read (${maxChars} characters, ${maxMarks} lines, brackets and quotes, 100 blank lines in a row): move text into the body.`,
      openingLine,
    );
    return { kind: 'refused' };
  }
  const split = splitWithGrayMatter(block);
  const reading = repaired(block.yaml, split.reading, openingLine, found);
  if (reading.kind === 'fault') {
    const { kind, line, message } = reading.fault;
    found.error(
      `front-matter-${kind}`,
      `The front matter cannot be read as YAML: ${message}.`,
      kind === 'not-a-map' ? openingLine : line + openingLine,
    );
    return { kind: 'refused' };
  }
  warnOfOddities(block, reading, openingLine, found);
  const entries = new Map(
    [...reading.entries].map(([key, entry]) => [key, atLine(entry, openingLine)]),
  );
  return { kind: 'read', entries, body: split.body };
}

/** The one call of gray-matter: options are always passed (without them it shares results through a cache), and every engine but YAML throws. */
function splitWithGrayMatter(block: Block): { reading: YamlReading; body: string } {
  let reading: YamlReading = { kind: 'map', entries: new Map(), duplicates: [] };
  const file = matter(`---\n${block.yaml}\n---\n${block.body}`, {
    language: 'yaml',
    delimiters: '---',
    excerpt: false,
    engines: {
      yaml: (text: string) => {
        reading = readYaml(text.slice(1)); // the newline after the opening dashes
        return {};
      },
      javascript: refuse,
      js: refuse,
      json: refuse,
      coffee: refuse,
      toml: refuse,
    },
  });
  return { reading, body: file.content };
}

function refuse(): never {
  throw new Error('only YAML front matter is read');
}

function repaired(
  yaml: string,
  reading: YamlReading,
  openingLine: number,
  found: DiagnosticList,
): YamlReading {
  if (!needsRepair(reading)) return reading;
  const repair = repairYaml(yaml);
  const second =
    repair.notes.length === 0 && repair.text === yaml ? reading : readYaml(repair.text);
  if (second.kind === 'fault') return second.fault.kind === 'too-complex' ? second : reading;
  for (const note of repair.notes) {
    found.warn(note.rule, `In the front matter, ${note.message}.`, note.line + openingLine);
  }
  return second;
}

/** YAML that cannot be read, or a key with a space in it: a second line of a text, not indented, with a colon. */
function needsRepair(reading: YamlReading): boolean {
  if (reading.kind === 'fault') return reading.fault.kind === 'syntax';
  return [...reading.entries.keys()].some(
    (key) => /\S\s+\S/.test(key) && !/^allowed tools$/i.test(key),
  );
}

/** What YAML reads without a word, though it is rarely what was meant. */
function warnOfOddities(
  block: Block,
  reading: YamlReading,
  openingLine: number,
  found: DiagnosticList,
): void {
  if (reading.kind === 'fault') return;
  for (const { key, line } of reading.duplicates) {
    found.warn(
      'duplicate-key',
      `The key ${quoted(key)} is there already; the first one counts.`,
      line + openingLine,
    );
  }
  const lines = block.yaml.split('\n');
  const heading = lines.findIndex(
    (line, at) => /^#{1,6} \S/.test(line) && at > 0 && lines[at - 1]?.trim() === '',
  );
  if (heading >= 0) {
    found.warn(
      'front-matter-heading',
      'In the front matter this line is a comment; if it is a heading of the body, the closing --- above it is missing.',
      heading + 1 + openingLine,
    );
  }
  if (/^\s*---[ \t]*\n(?:[ \t]*\n)*[A-Za-z][\w-]*:/.test(block.body.slice(0, 2_000))) {
    const blank = block.body.length - block.body.trimStart().length;
    found.warn(
      'front-matter-second-block',
      'A second block of front matter follows; only the first is read, this one is part of the body.',
      openingLine + lines.length + 2 + lineAt(block.body, blank) - 1,
    );
  }
}

/** 1-based line of an offset. */
function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** The entry with its lines counted from the file's first line. */
function atLine(entry: YamlEntry, openingLine: number): YamlEntry {
  return { ...entry, line: entry.line + openingLine, valueLine: entry.valueLine + openingLine };
}
