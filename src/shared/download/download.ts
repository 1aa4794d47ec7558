import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { SkillmillError } from '../errors/skillmill-error.js';
import { systemNetwork, type NetworkView } from './checked-lookup.js';
import { connectionFault, downloadFailed } from './download-failure.js';
import {
  checkedUrl,
  idleFault,
  openResponse,
  type OpenResponse,
  type RequestRules,
} from './open-response.js';
import { shownUrl } from './shown-url.js';

const tries = 3;
const firstPauseMs = 500;
/** A server that asks for a longer pause is not waited for. */
const maxRetryAfterMs = 60_000;
const defaultTotalTimeoutMs = 300_000;
const defaultIdleTimeoutMs = 30_000;
const mebibyte = 1024 * 1024;

/** What holds for a download. */
export interface DownloadOptions extends Pick<RequestRules, 'allowHosts' | 'allowHostsSetting'> {
  readonly maxBytes: number;
  /** The setting that `maxBytes` comes from, for the sentence that refuses. */
  readonly maxBytesSetting: string;
  /** What the bytes must have, in hex. */
  readonly sha256?: string | undefined;
  /** Sent to the first host only, never across a redirect to another. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** For all tries together. */
  readonly totalTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly network?: NetworkView;
  /** Waits so many milliseconds before another try; a timer when absent. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

type Settled = Required<Omit<DownloadOptions, 'sha256'>> & Pick<DownloadOptions, 'sha256'>;

/**
 * Downloads a URL: up to three tries with growing pauses, each of which hands the bytes to `receive` anew. The bytes fail in the
 * middle when they break off or become too many, and at their end when they have not the SHA-256 that was asked for, so that
 * whoever stores them must not publish before they have ended.
 * @throws SkillmillError DOWNLOAD_FAILED, LIMIT_EXCEEDED; the signal's reason; what `receive` throws
 */
export async function download<T>(
  url: string,
  receive: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
  options: DownloadOptions,
): Promise<T> {
  const first = checkedUrl(url);
  const { totalTimeoutMs = defaultTotalTimeoutMs } = options;
  const total = new AbortController();
  const timer = setTimeout(() => {
    const sentence = `took longer than ${totalTimeoutMs / 1000} s.`;
    total.abort(downloadFailed('timeout', first, sentence));
  }, totalTimeoutMs);
  const settled = {
    idleTimeoutMs: defaultIdleTimeoutMs,
    network: systemNetwork,
    headers: {},
    pause: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }),
    ...options,
    totalTimeoutMs,
    signal: AbortSignal.any([options.signal, total.signal]),
  };
  try {
    return await pRetry(() => tryOnce(first, receive, settled), retryPolicy(settled));
  } finally {
    clearTimeout(timer);
  }
}

function retryPolicy({ signal, pause }: Settled): Parameters<typeof pRetry>[1] {
  const mayRetry = (error: unknown) =>
    error instanceof SkillmillError &&
    error.code === 'DOWNLOAD_FAILED' &&
    error.retryable &&
    askedPause(error) <= maxRetryAfterMs;
  return {
    retries: tries - 1,
    // The pause is made below, so that a server's own wish counts.
    minTimeout: 0,
    signal,
    shouldRetry: ({ error }) => mayRetry(error),
    onFailedAttempt: async ({ error, retriesLeft, attemptNumber }) => {
      if (retriesLeft === 0 || !mayRetry(error)) return;
      const own = firstPauseMs * 2 ** (attemptNumber - 1) * (1 + Math.random());
      await pause(askedPause(error) + own, signal).catch(() => undefined);
      signal.throwIfAborted();
    },
  };
}

/** Milliseconds that the server asked to wait; 0 when it did not. */
function askedPause(error: unknown): number {
  const asked = error instanceof SkillmillError ? error.details?.['retryAfterMs'] : undefined;
  return typeof asked === 'number' ? asked : 0;
}

async function tryOnce<T>(
  first: URL,
  receive: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
  options: Settled,
): Promise<T> {
  const { signal } = options;
  const open = await openResponse(first, options);
  let fault: unknown;
  const watched = async function* () {
    try {
      yield* bodyOf(open, options);
    } catch (error) {
      fault = signal.aborted ? signal.reason : connectionFault(open.url, error);
      throw fault;
    }
  };
  try {
    checkHead(open, options);
    return await receive(watched());
  } catch (error) {
    // Whatever `receive` made of it.
    throw fault ?? error;
  } finally {
    open.response.destroy();
  }
}

/** What can be known ahead of the bytes. */
function checkHead({ url, response }: OpenResponse, options: Settled): void {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    const sentence = 'came in an encoding that was not asked for; only the file as it is will do.';
    throw downloadFailed('encoding', url, sentence);
  }
  if (Number(response.headers['content-length'] ?? 0) > options.maxBytes) {
    throw tooLarge(url, options);
  }
}

async function* bodyOf(
  { url, response }: OpenResponse,
  options: Settled,
): AsyncGenerator<Uint8Array> {
  const { idleTimeoutMs, maxBytes, sha256, signal } = options;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of withoutPauses(response, () => idleFault(url, idleTimeoutMs), options)) {
    signal.throwIfAborted();
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(url, options);
    hash.update(chunk);
    yield chunk;
  }
  if (sha256 !== undefined && hash.digest('hex') !== sha256.toLowerCase()) {
    const sentence = 'is not the file that the SHA-256 names. Check both; nothing of it is used.';
    throw downloadFailed('sha256', url, sentence);
  }
}

/** The chunks as they come; breaks off when the server, not the reader, takes too long over one. */
async function* withoutPauses(
  response: OpenResponse['response'],
  fault: () => Error,
  { idleTimeoutMs }: Settled,
): AsyncGenerator<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = response[Symbol.asyncIterator]();
  for (;;) {
    const timer = setTimeout(() => response.destroy(fault()), idleTimeoutMs);
    const next = await chunks.next().finally(() => clearTimeout(timer));
    if (next.done === true) return;
    yield next.value;
  }
}

function tooLarge(url: URL, { maxBytes, maxBytesSetting }: Settled): SkillmillError {
  return new SkillmillError(
    'LIMIT_EXCEEDED',
    `${shownUrl(url)} is larger than ${maxBytes / mebibyte} MiB, which is what ${maxBytesSetting} allows.`,
    { details: { limit: maxBytesSetting, url: shownUrl(url) } },
  );
}
