import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFiles } from '../../../src/producer/cli/file-arguments.js';
import { tempDir } from '../../support/temp-dir.js';

it.each([
  ['https://host/a/b.csv', 'b.csv', 'https://host/a/b.csv'],
  ['https://host:8443/b.csv', 'b.csv', 'https://host:8443/b.csv'],
  ['HTTPS://host/b.csv:data/c.csv', 'data/c.csv', 'HTTPS://host/b.csv'],
  ['http://host:80/b.csv?x=1#y', 'b.csv', 'http://host:80/b.csv?x=1#y'],
  ['http://host:80/b.csv?x=1:c.csv', 'c.csv', 'http://host:80/b.csv?x=1'],
  ['http://[::1]:80/a:b:c.csv', 'c.csv', 'http://[::1]:80/a:b'],
  ['http://host/a%20b%2Fc.csv', 'c.csv', 'http://host/a%20b%2Fc.csv'],
  ['http://host/%zz', '%zz', 'http://host/%zz'],
  ['http://host?q:name', 'name', 'http://host?q'],
])('--file %s is a URL that goes to %s', async (spec, path, url) => {
  expect(await readFiles([spec])).toEqual([{ path, url }]);
});

it.each([
  ['artifact://out/a.txt', 'a.txt', 'artifact://out/a.txt'],
  ['artifact://out/a.txt@3', 'a.txt', 'artifact://out/a.txt@3'],
  ['artifact://out/a.txt@3:b/c.txt', 'b/c.txt', 'artifact://out/a.txt@3'],
  ['artifact://out/a:b@3:c', 'c', 'artifact://out/a:b@3'],
])('--file %s is an artifact that goes to %s', async (spec, path, artifact) => {
  expect(await readFiles([spec])).toEqual([{ path, artifact }]);
});

it('names every file that cannot be read, and no query of a URL', async () => {
  const dir = await tempDir();
  await writeFile(join(dir, 'a:b'), 'text');
  const base64 = Buffer.from('text').toString('base64');
  expect(await readFiles([join(dir, 'a:b'), `${join(dir, 'a:b')}:c`])).toEqual([
    { path: 'a:b', base64 },
    { path: 'c', base64 },
  ]);
  const wrong = readFiles([join(dir, 'none'), 'https://host/?canary', 'http://u:canary@host', dir]);
  const error = await wrong.catch(String);
  expect(error).toMatch(
    /none: there is no such file; https:\/\/host\/\?…: .*; http:\/\/host\/: .*; .*is a folder/,
  );
  expect(error).not.toContain('canary');
  await expect(readFiles(['ftp://host/a'])).rejects.toThrow(/only http, https and artifact URLs/);
});
