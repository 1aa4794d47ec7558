import { SkillmillError } from '../errors/skillmill-error.js';
import { shownUrl } from './shown-url.js';

/** Why a download failed; each may pass by itself, or not. */
const passes = {
  status: false,
  busy: true,
  connection: true,
  timeout: true,
  host_not_found: false,
  certificate: false,
  address_refused: false,
  url_refused: false,
  too_many_redirects: false,
  encoding: false,
  sha256: false,
} as const;

export type DownloadFault = keyof typeof passes;

/** The error for a download that failed; its sentence begins with the URL, blotted. */
export function downloadFailed(
  reason: DownloadFault,
  url: string | URL,
  sentence: string,
  more: { readonly cause?: unknown; readonly [detail: string]: unknown } = {},
): SkillmillError {
  const { cause, ...details } = more;
  const shown = shownUrl(url);
  return new SkillmillError('DOWNLOAD_FAILED', `${shown} ${sentence}`, {
    details: { reason, url: shown, ...details },
    retryable: passes[reason],
    cause,
  });
}

/** An answer that is not the file. `retryAfterMs` is what the server asks for. */
export function wrongStatus(
  url: URL,
  status: number,
  retryAfterMs: number | undefined,
): SkillmillError {
  const busy = status === 408 || status === 429 || status >= 500;
  const sentence = `was answered with status ${status}. ${busy ? 'Try again later.' : 'Check the URL.'}`;
  const details = retryAfterMs === undefined ? { status } : { status, retryAfterMs };
  return downloadFailed(busy ? 'busy' : 'status', url, sentence, details);
}

/** What Node says of a connection that failed, as one of ours; its own words may name what nobody is to see. */
export function connectionFault(url: URL, thrown: unknown): SkillmillError {
  if (thrown instanceof SkillmillError) return thrown;
  const code = codeOf(thrown);
  const more = { cause: thrown, systemCode: code };
  if (code === 'ENOTFOUND') {
    return downloadFailed('host_not_found', url, 'has a host that nobody knows.', more);
  }
  if (/CERT|SIGNATURE|^ERR_(TLS|SSL)|^EPROTO$/.test(code)) {
    const sentence = `is at a host whose certificate is not trusted (${code}).`;
    return downloadFailed('certificate', url, sentence, more);
  }
  return downloadFailed('connection', url, `could not be read to its end (${code}).`, more);
}

function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : 'no code';
}
