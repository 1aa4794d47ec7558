import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type YAMLMap,
} from 'yaml';

/** A YAML value in which every scalar is the text it was written as (`1.10`, `2024-01-02`, `yes`); null is an empty or null scalar. */
export type YamlValue = string | null | readonly YamlValue[] | ReadonlyMap<string, YamlValue>;

/** One key of the block, with where and how its value was written. */
export interface YamlEntry {
  readonly value: YamlValue;
  /** 1-based line of the key within the block. */
  readonly line: number;
  /** 1-based line on which the value begins. */
  readonly valueLine: number;
  /** The value's source text. */
  readonly source: string;
}

/** Why a block cannot be used. */
export interface YamlFault {
  readonly kind: 'syntax' | 'too-complex' | 'not-a-map';
  /** 1-based within the block. */
  readonly line: number;
  readonly message: string;
}

/** A block's keys in the order written, or its fault. */
export type YamlReading =
  | {
      readonly kind: 'map';
      readonly entries: ReadonlyMap<string, YamlEntry>;
      /** Later occurrences of a key that was there already; the first one counts. */
      readonly duplicates: readonly { readonly key: string; readonly line: number }[];
    }
  | { readonly kind: 'fault'; readonly fault: YamlFault };

// What an honest front matter never reaches. Aliases are followed by us and counted, since 410 bytes of them can stand
// for 43 million values (CASES 9).
const maxDepth = 32;
const maxNodes = 10_000;
const maxAliases = 100;
const maxChars = 256 * 1024;

/** Sequences or maps in one another on one line: the library goes one call deeper for each. */
const nestedMarks = /(?:(?:[-?]|[^\s:]{1,40}:)[ \t]+){33}/;

class TooComplex extends Error {}

/** Reads a YAML mapping with the core schema and hard limits on depth, size and aliases; never throws. */
export function readYaml(text: string): YamlReading {
  try {
    if (nestedMarks.test(text) || bracketDepth(text) > maxDepth) {
      throw new TooComplex(`it is nested more than ${maxDepth} levels deep`);
    }
    const lines = new LineCounter();
    const document = parseDocument(text, {
      schema: 'core',
      lineCounter: lines,
      // The library compares each key with all before it: quadratic. We look for doubles ourselves.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
    const [error] = document.errors;
    if (error) return faultAt('syntax', lines.linePos(error.pos[0]).line, error.message);
    return readDocument(document, text, lines);
  } catch (thrown) {
    // RangeError: nesting that exhausts the stack inside the library.
    const why = thrown instanceof TooComplex ? thrown.message : 'it is nested too deeply';
    return faultAt('too-complex', 1, why);
  }
}

function readDocument(document: Document, text: string, lines: LineCounter): YamlReading {
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) {
    return { kind: 'map', entries: new Map(), duplicates: [] };
  }
  if (!isMap(root)) return faultAt('not-a-map', 1, 'it is not a list of `key: value` lines');
  const walk = new ValueWalk(text);
  if (root.anchor !== undefined) walk.anchors.set(root.anchor, root);
  const entries = new Map<string, YamlEntry>();
  const duplicates: { key: string; line: number }[] = [];
  for (const pair of root.items) {
    const key = walk.key(pair.key);
    const line = lines.linePos(rangeOf(pair.key)?.[0] ?? 0).line;
    const range = rangeOf(pair.value);
    const source = range === undefined ? '' : text.slice(range[0], range[1]);
    const valueLine = range === undefined ? line : lines.linePos(range[0]).line;
    const value = walk.value(pair.value, 1);
    if (entries.has(key)) duplicates.push({ key, line });
    else entries.set(key, { value, line, valueLine, source });
  }
  return { kind: 'map', entries, duplicates };
}

/** Turns the library's nodes into our values within one budget for the whole block. */
class ValueWalk {
  readonly anchors = new Map<string, unknown>();
  readonly #text: string;
  #nodes = 0;
  #aliases = 0;
  #chars = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(node: unknown, depth: number): YamlValue {
    if (++this.#nodes > maxNodes) throw new TooComplex(`it holds more than ${maxNodes} values`);
    if (depth > maxDepth) throw new TooComplex(`it is nested more than ${maxDepth} levels deep`);
    if (isAlias(node)) {
      if (++this.#aliases > maxAliases)
        throw new TooComplex(`it uses more than ${maxAliases} aliases`);
      return this.value(this.anchors.get(node.source), depth + 1);
    }
    if (isScalar(node)) {
      if (node.anchor !== undefined) this.anchors.set(node.anchor, node);
      return this.#scalar(node.value, node.source);
    }
    if (isSeq(node)) {
      if (node.anchor !== undefined) this.anchors.set(node.anchor, node);
      return node.items.map((item) => this.value(item, depth + 1));
    }
    return isMap(node) ? this.#map(node, depth) : null;
  }

  key(node: unknown): string {
    const value = isScalar(node) || isAlias(node) ? this.value(node, 1) : undefined;
    if (typeof value === 'string') return value;
    const range = rangeOf(node);
    return range === undefined ? '' : this.#text.slice(range[0], range[1]);
  }

  #map(node: YAMLMap, depth: number): YamlValue {
    if (node.anchor !== undefined) this.anchors.set(node.anchor, node);
    const map = new Map<string, YamlValue>();
    for (const pair of node.items) {
      const key = this.key(pair.key);
      const value = this.value(pair.value, depth + 1);
      if (!map.has(key)) map.set(key, value);
    }
    return map;
  }

  #scalar(value: unknown, source: string | undefined): string | null {
    if (value === null || value === undefined) return null;
    const text = typeof value === 'string' ? value : (source ?? JSON.stringify(value));
    this.#chars += text.length;
    if (this.#chars > maxChars)
      throw new TooComplex(`it expands to more than ${maxChars} characters`);
    return text;
  }
}

/** How deep brackets are nested, those inside quotes included. */
function bracketDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [mark] of text.matchAll(/[[\]{}]/g)) {
    depth += mark === '[' || mark === '{' ? 1 : -1;
    deepest = Math.max(deepest, (depth = Math.max(depth, 0)));
  }
  return deepest;
}

function rangeOf(node: unknown): readonly [number, number, number] | undefined {
  const known = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node);
  return known ? (node.range ?? undefined) : undefined;
}

function faultAt(kind: YamlFault['kind'], line: number, message: string): YamlReading {
  return { kind: 'fault', fault: { kind, line: Math.max(line, 1), message } };
}
