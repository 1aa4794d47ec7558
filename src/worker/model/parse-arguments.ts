import { withoutFence } from './without-fence.js';

/** A call's arguments: parsed, or their text with what is wrong with it. */
export type ParsedArguments =
  | { readonly value: unknown; readonly fault?: undefined }
  | { readonly value: string; readonly fault: string };

/** JSON deeper than this is no arguments of anybody's, and recursive code would run out of stack on it. */
const maxDepth = 100;

/** Reads a model's arguments; never throws. */
export function parseArguments(text: string): ParsedArguments {
  if (depthOf(text) > maxDepth) return { value: text, fault: `nested deeper than ${maxDepth}` };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { value: text, fault: error instanceof Error ? error.message : 'no JSON' };
  }
}

/**
 * Arguments as the model must have meant them, where that is certain: nothing at all is no arguments, a code fence around
 * them goes, and so do commas before a closing bracket and a second layer of quotes. Anything else stays as it is.
 */
export function repairArguments(text: string): string {
  const bare = withoutFence(text.trim());
  if (bare === '' || bare === 'null') return '{}';
  const parsed = parseArguments(bare);
  if (typeof parsed.value === 'string' && parsed.fault === undefined) {
    const inner = repairArguments(parsed.value);
    const isObject = inner.startsWith('{') && parseArguments(inner).fault === undefined;
    return isObject ? inner : bare;
  }
  if (parsed.fault === undefined) return bare;
  const mended = withoutTrailingCommas(bare);
  return parseArguments(mended).fault === undefined ? mended : text;
}

function withoutTrailingCommas(text: string): string {
  const dropped: number[] = [];
  let comma: number | undefined;
  for (const [index, char] of outsideStrings(text)) {
    if (/\s/.test(char)) continue;
    if (comma !== undefined && (char === ']' || char === '}')) dropped.push(comma);
    comma = char === ',' ? index : undefined;
  }
  const starts = [0, ...dropped.map((index) => index + 1)];
  return starts.map((start, nth) => text.slice(start, dropped[nth])).join('');
}

/** An upper bound of how deep a JSON text is nested; brackets within strings do not count. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, char] of outsideStrings(text)) {
    if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}

/** Characters of a JSON text that stand in no string, in one pass: a pattern would go back over an open quote again and again. */
function* outsideStrings(text: string): Generator<readonly [index: number, char: string]> {
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (char === '"') quoted = !quoted;
    else if (!quoted) yield [index, char];
    else if (char === '\\') index += 1;
  }
}
