import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { BlobSource } from '../../../src/shared/blobs/blob-store.js';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import type { RequestedFile } from '../../../src/shared/results/stored-request.js';
import { resolveInputs, type InputPorts } from '../../../src/worker/workspace/resolve-inputs.js';
import { server } from '../../support/downloads.js';
import { sends } from '../../support/file-server.js';

const shaOf = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const artifact = (name: string, version: number) => ({
  ...{ name, version, mimeType: 'text/plain', sizeBytes: 7, sha256: shaOf(`${name} ${version}`) },
  ref: `artifact://${name}@${version}`,
});
const kept: string[] = [];
const put = async (source: BlobSource) => {
  const text = (await buffer(Readable.from(source))).toString();
  kept.push(text);
  return { sha256: shaOf(text), sizeBytes: text.length };
};
const resolve = (files: readonly RequestedFile[], more: Partial<InputPorts> = {}) => {
  kept.length = 0;
  const ports: InputPorts = {
    blobs: { put },
    artifacts: [artifact('out/a', 0), artifact('out/b', 0), artifact('out/a', 1)],
    config: { allowHosts: ['127.0.0.1'], maxFileBytes: 1000 },
    maxTotalBytes: 2000,
    ...more,
  };
  return resolveInputs(files, ports, new AbortController().signal);
};
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (thrown: unknown) => SkillmillError.from(thrown),
  );

it('gives every file its bytes in the request’s order; an artifact’s are not copied', async () => {
  const { url } = await server({ '/x': sends('from the web') });
  const inline = { path: 'i', sha256: 's', sizeBytes: 3, base64: 'YWJj' };
  const files = [
    { path: 'w', url: `${url}/x?token`, sha256: shaOf('from the web') },
    inline,
    { path: 'last', artifact: 'artifact://out/a' },
    { path: 'first', artifact: 'artifact://out/a@0' },
  ];
  expect(await resolve(files)).toEqual([
    { path: 'w', sha256: shaOf('from the web'), sizeBytes: 12, source: { url: `${url}/x?…` } },
    inline,
    {
      path: 'last',
      sha256: shaOf('out/a 1'),
      sizeBytes: 7,
      source: { artifact: 'artifact://out/a@1' },
    },
    {
      path: 'first',
      sha256: shaOf('out/a 0'),
      sizeBytes: 7,
      source: { artifact: 'artifact://out/a@0' },
    },
  ]);
  expect(kept).toEqual(['from the web']);
});

it('names all faults at once, the caller’s mistakes first', async () => {
  const { url } = await server({ '/large': sends('x'.repeat(1001)) });
  const urls = [
    { path: '404', url: `${url}/none` },
    { path: 'large', url: `${url}/large` },
  ];
  const wrong = [
    { path: 'v', artifact: 'artifact://out/a@7' },
    { path: 'n', artifact: 'artifact://out/c' },
  ];
  const all = await faultOf(resolve([...urls, ...wrong]));
  expect(all).toMatchObject({ code: 'INPUT_INVALID', retryable: false });
  expect(all?.details?.['faults']).toMatchObject([
    { path: '404', code: 'DOWNLOAD_FAILED', reason: 'status', status: 404 },
    { path: 'large', code: 'LIMIT_EXCEEDED', limit: 'SKILLMILL_INPUT_MAX_MB' },
    { path: 'v', code: 'INPUT_INVALID' },
    { path: 'n', code: 'INPUT_INVALID' },
  ]);
  expect(all?.message).toContain('the last one is 1');
  expect(all?.message).toContain('has out/a, out/b');
  expect(await faultOf(resolve(urls))).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  expect(kept).toEqual([]);
});

it('lets a store that is away fail the attempt, whatever else is wrong', async () => {
  const { url } = await server({ '/x': sends('x') });
  const away = new SkillmillError('BLOB_UNAVAILABLE', 'It is away.');
  const files = [
    { path: 'n', artifact: 'artifact://out/c' },
    { path: 'x', url: `${url}/x` },
  ];
  const blobs = { put: () => Promise.reject(away) };
  expect(await faultOf(resolve(files, { blobs }))).toBe(away);
});

it('stops when the files are too much together', async () => {
  const { url, requests } = await server({ '/x': sends('x'.repeat(900)) });
  const files = Array.from({ length: 50 }, (_, n) => ({ path: String(n), url: `${url}/x` }));
  const fault = await faultOf(resolve(files));
  expect(fault).toMatchObject({
    code: 'LIMIT_EXCEEDED',
    details: { limit: 'SKILLMILL_WORKSPACE_MAX_MB' },
  });
  expect(requests.length).toBeLessThan(10);
});
