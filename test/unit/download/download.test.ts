import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { download } from '../../../src/shared/download/download.js';
import { faultOf, get, options, pauses, server } from '../../support/downloads.js';
import { sends, type Answer } from '../../support/file-server.js';

describe('an answer', () => {
  it('is the bytes as they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const { url } = await server({ '/a': sends(bytes) });
    const got = await download(`${url}/a?x=1`, (body) => buffer(body), options());
    expect(got.equals(bytes)).toBe(true);
    expect(await get(`${url}/a`, { sha256: sha256(bytes).toUpperCase() })).toHaveLength(300_000);
  });

  it('that is not what its SHA-256 says fails at its end, once', async () => {
    const { url, requests } = await server({ '/a': sends('bytes') });
    const fault = await faultOf(get(`${url}/a`, { sha256: '0'.repeat(64) }));
    expect(fault).toMatchObject({ code: 'DOWNLOAD_FAILED', reason: 'sha256', retryable: false });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['by its declared length', { 'content-length': '2000' }],
    ['by what arrives', { 'transfer-encoding': 'chunked' }],
  ])('that is too large is refused %s', async (_, headers: Record<string, string>) => {
    const { url, requests } = await server({ '/a': sends('x'.repeat(2000), headers) });
    const fault = await faultOf(get(`${url}/a`, { maxBytes: 1999 }));
    expect(fault).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'MAX', retryable: false });
    expect(requests).toHaveLength(1);
    expect(await get(`${url}/a`, { maxBytes: 2000 })).toHaveLength(2000);
  });

  it('in another encoding is refused: a small one may become a large one', async () => {
    const packed = gzipSync('text');
    const { url, requests } = await server({ '/a': sends(packed, { 'content-encoding': 'gzip' }) });
    expect(await faultOf(get(`${url}/a`))).toMatchObject({ reason: 'encoding', retryable: false });
    expect(requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it.each([301, 400, 401, 403, 404, 410])('of status %d fails at once', async (status) => {
    const { url, requests } = await server({ '/a': (_, r) => r.writeHead(status).end() });
    const fault = await faultOf(get(`${url}/a`));
    expect(fault).toMatchObject({ code: 'DOWNLOAD_FAILED', reason: 'status', status });
    expect(fault.retryable).toBe(false);
    expect(requests).toHaveLength(1);
  });
});

describe('another try', () => {
  it.each([408, 429, 500, 502, 503])('follows status %d, three in all', async (status) => {
    const { url, requests } = await server({ '/a': (_, r) => r.writeHead(status).end() });
    const fault = await faultOf(get(`${url}/a`));
    expect(fault).toMatchObject({ reason: 'busy', status, retryable: true });
    expect(requests).toHaveLength(3);
    expect(pauses).toHaveLength(2);
  });

  it('gets the whole file after a connection that broke in the middle', async () => {
    let asked = 0;
    const { url } = await server({
      '/a': (_, response) => {
        asked += 1;
        if (asked === 3) return response.end('whole');
        response.writeHead(200, { 'content-length': '5' }).write('wh');
        return setTimeout(() => response.destroy(), 20);
      },
    });
    expect(await get(`${url}/a`)).toBe('whole');
    expect(asked).toBe(3);
  });

  it('waits as long as the server asks, within bounds', async () => {
    let asked = 0;
    const later = (seconds: string): Answer => {
      return (_, response) => {
        asked += 1;
        if (asked > 1) return response.end('file');
        return response.writeHead(429, { 'retry-after': seconds }).end();
      };
    };
    const { url } = await server({ '/a': later('20'), '/b': later('3600') });
    expect(await get(`${url}/a`)).toBe('file');
    expect(pauses[0]).toBeGreaterThanOrEqual(20_500);
    asked = 0;
    const fault = await faultOf(get(`${url}/b`));
    expect(fault).toMatchObject({ reason: 'busy', retryAfterMs: 3_600_000 });
    expect(asked).toBe(1);
  });

  it('follows a fault of the bytes, whatever the receiver makes of it', async () => {
    const { url, requests } = await server({
      '/a': (_, response) => {
        response.writeHead(200, { 'content-length': '5' }).write('wh');
        setTimeout(() => response.destroy(), 20);
      },
    });
    const receive = (bytes: AsyncIterable<Uint8Array>) =>
      buffer(bytes).catch(() => Promise.reject(new Error('the store took no file')));
    const fault = await faultOf(download(`${url}/a`, receive, options()));
    expect(fault).toMatchObject({ code: 'DOWNLOAD_FAILED', reason: 'connection', retryable: true });
    expect(requests).toHaveLength(3);
  });

  it('does not follow a fault of the receiver, which comes out as it is', async () => {
    const { url, requests } = await server({ '/a': sends('x'.repeat(100_000)) });
    const full = new Error('disk full');
    await expect(download(`${url}/a`, () => Promise.reject(full), options())).rejects.toBe(full);
    expect(requests).toHaveLength(1);
  });

  it('ends with the signal, in a pause too', async () => {
    const { url, requests } = await server({ '/a': (_, r) => r.writeHead(503).end() });
    const stop = new AbortController();
    const reason = new Error('stopped');
    const work = get(`${url}/a`, {
      signal: stop.signal,
      pause: () => {
        stop.abort(reason);
        return Promise.reject(reason);
      },
    });
    await expect(work).rejects.toBe(reason);
    expect(requests).toHaveLength(1);
  });
});

describe('time', () => {
  it.each([
    ['before its answer', () => undefined],
    ['in the middle', ((_, response) => response.writeHead(200).write('x')) satisfies Answer],
  ])('a server that falls silent %s is given up', async (_, answer: Answer) => {
    const { url, requests } = await server({ '/a': answer });
    const fault = await faultOf(get(`${url}/a`, { idleTimeoutMs: 50 }));
    expect(fault).toMatchObject({ reason: 'timeout', retryable: true });
    expect(requests).toHaveLength(3);
  });

  it('a server that drips is given up when all is taking too long', async () => {
    const { url, requests } = await server({
      '/a': (_, response) => {
        const drip = setInterval(() => response.write('x'), 10);
        response.once('close', () => clearInterval(drip));
      },
    });
    const fault = await faultOf(get(`${url}/a`, { totalTimeoutMs: 150 }));
    expect(fault).toMatchObject({ reason: 'timeout' });
    expect(requests).toHaveLength(1);
  });

  it('a signal ends it in the middle', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const { url } = await server({
      '/a': (_, response) => {
        response.write('x');
        setTimeout(() => stop.abort(reason), 20);
      },
    });
    await expect(get(`${url}/a`, { signal: stop.signal })).rejects.toBe(reason);
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
