/** A year: more is nonsense. */
const maxMs = 365 * 24 * 60 * 60 * 1000;

/**
 * How long an endpoint asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or an HTTP date (RFC 9110,
 * section 10.2.3). Undefined when it does not ask, or asks for nonsense.
 */
export function retryAfterMs(headers: Pick<Headers, 'get'>, nowMs: number): number | undefined {
  const inMs = numberIn(headers.get('retry-after-ms'));
  if (inMs !== undefined) return within(inMs);
  const text = headers.get('retry-after')?.trim() ?? '';
  const seconds = numberIn(text);
  if (seconds !== undefined) return within(seconds * 1000);
  // Only a date as HTTP writes it: Date.parse takes '-1' for a year.
  if (!/^[A-Z][a-z]{2,8}, /.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : within(Math.max(0, date - nowMs));
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

function within(ms: number): number | undefined {
  return ms <= maxMs ? Math.ceil(ms) : undefined;
}
