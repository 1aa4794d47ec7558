/** Counts a text's tokens. */
export type CountTokens = (text: string) => number;

let counter: Promise<CountTokens> | undefined;

/** A real tokenizer (OpenAI's o200k_base), loaded with the first text that may be over its budget: it costs 0.5 s and 60 MB. */
function tokenizer(): Promise<CountTokens> {
  return (counter ??= import('gpt-tokenizer/encoding/o200k_base').then(
    ({ countTokens }) =>
      (text: string) =>
        countTokens(inShortRuns(text), { disallowedSpecial: new Set<string>() }),
  ));
}

/**
 * The text with a break in each run of signs or blanks that is longer than any real one; a break costs a token. The tokenizer's work
 * grows with the square of a run, so that a hostile text could hold a worker up for minutes.
 */
function inShortRuns(text: string): string {
  return text
    .replace(/\S{256}(?=\S)/g, (run) => `${run}\n`)
    .replace(/\s{256}(?=\s)/g, (run) => `${run}|`);
}

/** Tokens of a text, by a real tokenizer. */
export async function tokensOf(text: string): Promise<number> {
  return (await tokenizer())(text);
}

const maxBytesPerUnit = 3;

/** Is the text within the budget whatever its tokens are? A token is at least one byte, and a UTF-16 unit at most three: most texts need no counting. */
export function isSurelyWithin(text: string, budget: number): boolean {
  return text.length * maxBytesPerUnit <= budget;
}

/** A text within a budget of tokens; what does not fit is left out at its end, and `note` says so. */
export async function withinBudget(
  text: string,
  budget: number,
  note: (leftOut: number) => string,
): Promise<string> {
  if (isSurelyWithin(text, budget)) return text;
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
