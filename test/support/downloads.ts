import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { download, type DownloadOptions } from '../../src/shared/download/download.js';
import { SkillmillError } from '../../src/shared/errors/skillmill-error.js';
import { startFileServer, type Answer } from './file-server.js';

/** A web server for one test. */
export async function server(
  answers: Record<string, Answer>,
  place: { hostname?: string; port?: number } = {},
) {
  const started = await startFileServer(answers, place);
  onTestFinished(() => started.close());
  return started;
}

/** The pauses before other tries, of the last download. */
export const pauses: number[] = [];
/** What holds for a download that no test changes. */
export const options = (more: Partial<DownloadOptions> = {}): DownloadOptions => {
  pauses.length = 0;
  return {
    allowHosts: ['127.0.0.1'],
    allowHostsSetting: 'ALLOW',
    maxBytes: 1024 * 1024,
    maxBytesSetting: 'MAX',
    signal: new AbortController().signal,
    pause: (ms) => Promise.resolve(pauses.push(ms)),
    ...more,
  };
};
/** Downloads a text. */
export const get = (url: string, more: Partial<DownloadOptions> = {}) =>
  download(url, async (bytes) => (await buffer(bytes)).toString(), options(more));
/** The error that a download ends in, with its details. */
export const faultOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SkillmillError)) throw new Error(`no fault of ours: ${String(error)}`);
  return { code: error.code, retryable: error.retryable, message: error.message, ...error.details };
};
