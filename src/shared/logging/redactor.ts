import { SkillmillError } from '../errors/skillmill-error.js';

/** Shorter values (`1`, `en`) are no secrets, and blotting them out would make any text unreadable. */
export const minSecretLength = 4;
const blot = '[redacted]';

/** Blots secrets out of what leaves the worker. */
export interface Redactor {
  text(text: string): string;
  /** Every text of a JSON value, keys as well. */
  value(value: unknown): unknown;
  error(error: SkillmillError): SkillmillError;
  /** For text that comes in pieces: what a secret may begin with is held back until more is known. */
  stream(): RedactedStream;
}

export interface RedactedStream {
  /** The next piece, without the secrets in it. */
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/**
 * A redactor for these values; ones shorter than `minSecretLength` are left alone. `cutMark` is what stands where a text was cut: a
 * secret may lie half on each side of it.
 */
export function createRedactor(values: Iterable<string>, cutMark?: RegExp): Redactor {
  const secrets = [...new Set(values)].filter((value) => value.length >= minSecretLength);
  if (secrets.length === 0) return nothingToRedact;
  const inJson = patternOf([...secrets, ...secrets.map(asJson)]);
  const text = (whole: string) => {
    const clean = whole.replace(inJson, blot);
    return cutMark === undefined ? clean : withoutHalves(clean, cutMark, secrets);
  };
  const value = (whole: unknown): unknown => {
    if (typeof whole === 'string') return text(whole);
    if (Array.isArray(whole)) return whole.map(value);
    return isRecord(whole) ? record(whole) : whole;
  };
  const record = (whole: object) =>
    Object.fromEntries(Object.entries(whole).map(([key, inner]) => [text(key), value(inner)]));
  return {
    text,
    value,
    error: ({ code, message, details, cause, retryable }) =>
      new SkillmillError(code, text(message), {
        ...(details !== undefined && { details: record(details) }),
        cause,
        retryable,
      }),
    stream: () => redactedStream([...secrets, ...secrets.map(asJson)]),
  };
}

const nothingToRedact: Redactor = {
  text: (whole) => whole,
  value: (whole) => whole,
  error: (error) => error,
  stream: () => ({ push: (piece) => piece, end: () => '' }),
};

function redactedStream(secrets: readonly string[]): RedactedStream {
  const pattern = patternOf(secrets);
  let held = '';
  return {
    push(piece) {
      const all = held + piece;
      let told = '';
      let at = 0;
      let unsure = beginningOfSecret(all, at, secrets);
      for (const { 0: secret, index } of all.matchAll(pattern)) {
        if (unsure <= index) break; // it may be part of a longer one
        told += all.slice(at, index) + blot;
        at = index + secret.length;
        if (unsure < at) unsure = beginningOfSecret(all, at, secrets);
      }
      held = all.slice(unsure);
      return told + all.slice(at, unsure);
    },
    end() {
      const rest = held.replace(pattern, blot);
      held = '';
      return rest;
    },
  };
}

/** Where, at `from` or after it, the longest end of the text begins with which a secret begins. */
function beginningOfSecret(text: string, from: number, secrets: readonly string[]): number {
  const longest = Math.max(...secrets.map(({ length }) => length));
  for (let start = Math.max(from, text.length - longest + 1); start < text.length; start += 1) {
    const end = text.slice(start);
    if (secrets.some((secret) => secret.length > end.length && secret.startsWith(end))) {
      return start;
    }
  }
  return text.length;
}

/** A text without the halves of secrets that stand at its cuts. */
function withoutHalves(text: string, cutMark: RegExp, secrets: readonly string[]): string {
  const match = cutMark.exec(text);
  if (match === null) return text;
  const left = text.slice(0, match.index);
  const right = text.slice(match.index + match[0].length);
  const start = beginningOfSecret(left, 0, secrets);
  const end = endOfSecret(right, secrets);
  return `${left.slice(0, start)}${match[0]}${right.slice(end)}`;
}

/** Where the longest start of the text ends with which a secret ends. */
function endOfSecret(text: string, secrets: readonly string[]): number {
  const longest = Math.max(...secrets.map(({ length }) => length));
  for (let end = Math.min(text.length, longest - 1); end > 0; end -= 1) {
    const start = text.slice(0, end);
    if (secrets.some((secret) => secret.length > end && secret.endsWith(start))) return end;
  }
  return 0;
}

/** Any of these texts; the longest first, so that a secret which begins with another goes whole. */
function patternOf(texts: readonly string[]): RegExp {
  const sorted = [...new Set(texts)].sort((a, b) => b.length - a.length);
  return new RegExp(sorted.map(escaped).join('|'), 'g');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** A text as it stands between the quotes of JSON. */
function asJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
