import { expect, it } from 'vitest';
import { isAllowedHost, toAllowedHost } from '../../../src/shared/download/allowed-hosts.js';

it.each([
  ['files.internal', 'files.internal'],
  ['Files.Internal:8080', 'files.internal:8080'],
  ['host:80', 'host:80'],
  ['0x7f.1', '127.0.0.1'],
  ['[::1]', '[::1]'],
  ['[0:0::1]:443', '[::1]:443'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['*', '*'],
])('%s is the host %s', (entry, host) => {
  expect(toAllowedHost(entry)).toBe(host);
});

it.each([
  'http://host',
  'host/path',
  'user@host',
  'host:',
  'host:99999',
  '::1',
  '',
  '*.x y',
  'a?b',
])('%j is no host', (entry) => {
  expect(toAllowedHost(entry)).toBeUndefined();
});

it('allows the host at any port, or at its port alone', () => {
  const allows = (host: string, url: string) => isAllowedHost([host], new URL(url));
  expect(allows('host', 'http://host/')).toBe(true);
  expect(allows('host', 'https://HOST:8443/')).toBe(true);
  expect(allows('host:8080', 'http://host:8080/')).toBe(true);
  expect(allows('host:80', 'http://host/')).toBe(true);
  expect(allows('host:443', 'https://host/')).toBe(true);
  expect(allows('127.0.0.1', 'http://2130706433/')).toBe(true);
  expect(allows('*', 'http://anything/')).toBe(true);
  expect(allows('host:8080', 'http://host/')).toBe(false);
  expect(allows('host:80', 'https://host/')).toBe(false);
  expect(allows('host', 'http://other.host/')).toBe(false);
  expect(isAllowedHost([], new URL('http://host/'))).toBe(false);
});
