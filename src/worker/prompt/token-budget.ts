/** Counts a text's tokens. */
export type CountTokens = (text: string) => number;

let counter: Promise<CountTokens> | undefined;

/** A real tokenizer (OpenAI's o200k_base), loaded with the first text that may be over its budget: it costs 0.5 s and 60 MB. */
function tokenizer(): Promise<CountTokens> {
  return (counter ??= import('gpt-tokenizer/encoding/o200k_base').then(
    ({ countTokens }) =>
      (text: string) =>
        countTokens(text, { disallowedSpecial: new Set<string>() }),
  ));
}

/** Tokens of a text, by a real tokenizer. */
export async function tokensOf(text: string): Promise<number> {
  return (await tokenizer())(text);
}

/** A text within a budget of tokens; what does not fit is left out at its end, and `note` says so. */
export async function withinBudget(
  text: string,
  budget: number,
  note: (leftOut: number) => string,
): Promise<string> {
  // A token is at least one UTF-16 unit, so most texts need no counting.
  if (text.length <= budget) return text;
  const count = await tokenizer();
  const total = count(text);
  if (total <= budget) return text;
  const kept = longestPrefix(text, (prefix) => count(prefix) <= budget);
  return `${kept.trimEnd()}\n\n${note(total - count(kept))}`;
}

/** The longest run of whole lines from the start (or of characters, when the first line alone is too long) that fits. */
function longestPrefix(text: string, fits: (prefix: string) => boolean): string {
  const ends = [...text.matchAll(/\n/g)].map((match) => match.index);
  const lines = ends.length === 0 || !fits(text.slice(0, ends[0])) ? undefined : ends;
  let low = 0;
  let high = lines === undefined ? text.length : lines.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(text.slice(0, lines?.[middle] ?? middle))) low = middle;
    else high = middle - 1;
  }
  const end = lines?.[low] ?? low;
  return text.slice(0, end).replace(/[\ud800-\udbff]$/, '');
}
