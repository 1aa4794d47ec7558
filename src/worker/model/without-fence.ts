/** A text without the code fence that models like to put around JSON; in one pass, since patterns go back over blanks again and again. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  const firstLineEnd = trimmed.indexOf('\n');
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || firstLineEnd < 0) return text;
  const language = trimmed.slice(3, firstLineEnd).trim().toLowerCase();
  if (language !== '' && language !== 'json') return text;
  return trimmed.slice(firstLineEnd + 1, -3).trim();
}
