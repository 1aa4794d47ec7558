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

/** An upper bound of how deep a JSON text is nested; brackets within strings do not count. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, (depth += 1));
    else if (token === ']' || token === '}') depth -= 1;
  }
  return deepest;
}
