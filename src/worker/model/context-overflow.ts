/** A conversation that is longer than the model's window, in tokens where the endpoint says so. */
export interface ContextOverflow {
  readonly limit?: number;
  readonly asked?: number;
}

/** How endpoints say it; each words it differently. */
const phrases: readonly RegExp[] = [
  /context_length_exceeded/i,
  /maximum (context|input|prompt) length/i,
  /context (length|window|size)/i,
  /(input|prompt) (length|is too long|exceeds|tokens? exceed)/i,
  /tokens in request more than max tokens/i,
  /too many (input )?tokens/i,
  /(input|prompt|request|conversation).{0,40}too (long|large|many)/i,
  /exceeds? the (model'?s? )?(maximum|limit|available)[^.]{0,40}(context|tokens)/i,
  /reduce the length of the (messages|input|prompt)/i,
  /input token count.{0,40}exceeds/i,
  /token limit exceeded/i,
];

/** What is about the answer's length, not the conversation's. */
const aboutOutput =
  /max(_completion|_output|_new)?_tokens.{0,40}(must|should|at most|less than|too large|invalid|greater)/i;

/** Does a refusal (400, 413, 422, or an error object without a status) say that the conversation is too long? */
export function overflowOf(
  message: string,
  status: number | undefined,
): ContextOverflow | undefined {
  if (status !== undefined && ![400, 413, 422, 500].includes(status)) return undefined;
  const isOverflow = phrases.some((phrase) => phrase.test(message)) && !aboutOutput.test(message);
  if (!isOverflow) return undefined;
  // The window is the smaller of the two numbers that are said.
  const numbers = [...message.matchAll(/\d[\d,_]{2,}/g)]
    .map(([digits]) => Number(digits.replace(/[,_]/g, '')))
    .filter((number) => number !== status && number < 1e9);
  const [first, second] = numbers;
  if (first === undefined) return {};
  if (second === undefined) return { limit: first };
  return { limit: Math.min(first, second), asked: Math.max(first, second) };
}
