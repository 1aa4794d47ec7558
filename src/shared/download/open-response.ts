import type { IncomingMessage } from 'node:http';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { isAllowedHost, literalAddress, type AllowedHosts } from './allowed-hosts.js';
import { addressRefused, checkedLookup, type NetworkView } from './checked-lookup.js';
import { connectionFault, downloadFailed, wrongStatus } from './download-failure.js';
import { retryAfterMs } from './retry-after.js';

const maxRedirects = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** How a URL is asked. */
export interface RequestRules {
  readonly allowHosts: AllowedHosts;
  /** The setting that `allowHosts` comes from, for the sentence that refuses. */
  readonly allowHostsSetting: string;
  /** Sent to the first host only, never across a redirect to another. */
  readonly headers: Readonly<Record<string, string>>;
  readonly network: NetworkView;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** Asks for a URL and follows its redirects, each checked like the first. @throws SkillmillError DOWNLOAD_FAILED; the signal's reason */
export async function openResponse(first: URL, rules: RequestRules): Promise<OpenResponse> {
  let url = first;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const headers = url.origin === first.origin ? rules.headers : {};
    const response = await ask(url, { ...rules, headers });
    const { statusCode: status = 0 } = response;
    if (status === 200) return { url, response };
    response.destroy();
    const location = redirects.includes(status) ? response.headers.location : undefined;
    if (location === undefined) throw wrongStatus(url, status, askedPause(response));
    url = redirectOf(url, location);
  }
  throw downloadFailed(
    'too_many_redirects',
    first,
    `redirects more than ${maxRedirects} times; give the URL where it ends.`,
  );
}

export interface OpenResponse {
  /** Where the redirects ended. */
  readonly url: URL;
  readonly response: IncomingMessage;
}

/** A URL that may be asked. @throws SkillmillError DOWNLOAD_FAILED */
export function checkedUrl(text: string): URL {
  if (!URL.canParse(text)) throw downloadFailed('url_refused', text, 'cannot be asked for.');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw downloadFailed('url_refused', url, 'is neither http nor https.');
  }
  if (url.username !== '' || url.password !== '') {
    const sentence = 'holds a user name or password; URLs are stored and shown, so none may.';
    throw downloadFailed('url_refused', url, sentence);
  }
  return url;
}

function redirectOf(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href)) {
    throw downloadFailed('url_refused', from, 'redirects to what is no URL.');
  }
  return checkedUrl(new URL(location, from).href);
}

function askedPause({ headers }: IncomingMessage): number | undefined {
  const get = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value : null;
  };
  return retryAfterMs({ get }, Date.now());
}

function ask(url: URL, rules: RequestRules): Promise<IncomingMessage> {
  const { allowHosts, allowHostsSetting, network, idleTimeoutMs, signal } = rules;
  const refusal = () => addressRefused(url, allowHostsSetting);
  const isFree = isAllowedHost(allowHosts, url);
  const literal = literalAddress(url);
  // An address that stands in the URL itself is never looked up.
  if (!isFree && literal !== undefined && !network.isPublic(literal)) throw refusal();
  const anyAddress = { ...network, isPublic: () => true };
  const options = {
    // Never a connection that somebody else has opened: its address was not checked here.
    agent: false,
    headers: { 'user-agent': 'skillmill', 'accept-encoding': 'identity', ...rules.headers },
    lookup: checkedLookup(isFree ? anyAddress : network, refusal),
    signal,
  };
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(url, options);
    const idle = setTimeout(() => request.destroy(idleFault(url, idleTimeoutMs)), idleTimeoutMs);
    request.once('response', (response) => {
      clearTimeout(idle);
      resolve(response);
    });
    // For good: a response that is destroyed later tells its request too.
    request.on('error', (error) => {
      clearTimeout(idle);
      reject(connectionFault(url, error));
    });
    request.end();
  });
  return answer.catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** The error for a server that says nothing for too long. */
export function idleFault(url: URL, ms: number): Error {
  return downloadFailed('timeout', url, `sent nothing for ${ms / 1000} s.`);
}
