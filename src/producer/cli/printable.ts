/**
 * Text from models, commands and files as a terminal may show it: control characters become visible, but for line
 * breaks, tabs and our own colours.
 */
export function printable(text: string): string {
  return text.replace(
    /\u001b\[\d{1,2}m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (found) => (found.length > 1 ? found : escaped(found)),
  );
}

/** The same for text that must not bring colours of its own. */
export function plainPrintable(text: string): string {
  return printable(text.replaceAll('\u001b', '\\x1b'));
}

/** The same for a name or a message, which stays on its line whatever it holds. */
export function printableLine(text: string): string {
  return plainPrintable(
    text
      .replaceAll('\n', '\\n')
      .replaceAll('\t', '\\t')
      .replace(/[\u2028\u2029]/g, '?'),
  );
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code < 256
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
