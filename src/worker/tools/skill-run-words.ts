import { SkillmillError } from '../../shared/errors/skillmill-error.js';

/** What a shell would act on outside quotes. */
const meta: readonly string[] = ['\n', '\r', ';', '&', '|', '<', '>', '$', '`', '(', ')'];
/** What it would act on between double quotes too. */
const metaInDouble: readonly string[] = ['$', '`'];
/** What a backslash takes the meaning from between double quotes. */
const escapable: readonly string[] = ['"', '\\', '$', '`'];

/** Splits a command into its words as a shell would, when none is to run it: quotes and backslashes are understood.
 *  @throws SkillmillError TOOL_INPUT_INVALID naming what only a shell could do */
export function splitWords(command: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let at = 0; at < command.length; at += 1) {
    const char = command.charAt(at);
    const next = command.charAt(at + 1);
    if (quote === "'") {
      if (char === quote) quote = undefined;
      else word = `${word ?? ''}${char}`;
    } else if (char === '\\' && (quote === undefined || escapable.includes(next))) {
      if (next === '' || next === '\n') throw refusal('it has a backslash at the end of a line');
      word = `${word ?? ''}${next}`;
      at += 1;
    } else if (quote === '"' && char === quote) {
      quote = undefined;
    } else if ((quote === undefined ? meta : metaInDouble).includes(char)) {
      throw refusal(`it has ${JSON.stringify(char)}, which only a shell understands`);
    } else if (quote === undefined && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (quote === undefined && (char === ' ' || char === '\t')) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = `${word ?? ''}${char}`;
    }
  }
  if (quote !== undefined) throw refusal(`its quote ${quote} is never closed`);
  if (word !== undefined) words.push(word);
  return words;
}

function refusal(why: string): SkillmillError {
  return new SkillmillError(
    'TOOL_INPUT_INVALID',
    `Commands run without a shell here, and this one cannot: ${why}. Give one program and its arguments; put an argument with such characters between single quotes.`,
  );
}
