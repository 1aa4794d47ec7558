/** Bytes of a text file as text. */
export interface DecodedText {
  readonly text: string;
  /** False when bytes had to be replaced by U+FFFD. */
  readonly valid: boolean;
}

/** The text of a file's bytes: UTF-8, or UTF-16 when its byte order mark says so; the mark itself is kept; never throws. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const encoding = encodingOf(bytes);
  try {
    return {
      text: new TextDecoder(encoding, { ignoreBOM: true, fatal: true }).decode(bytes),
      valid: true,
    };
  } catch {
    return { text: new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes), valid: false };
  }
}

/** The text without byte order marks at its start and with `\n` as the only line end (from CRLF, CR CR LF or a lone CR). */
export function normalizeText(text: string): string {
  const plain = text.replace(/^\uFEFF+/, '');
  if (!plain.includes('\r')) return plain;
  return plain.replaceAll('\r\r\n', '\n').replaceAll('\r\n', '\n').split('\r').join('\n');
}

/** The text on one line: every run of white space and control characters is one space, so that it cannot start or imitate a line of a list. */
export function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}
