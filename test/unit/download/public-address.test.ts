import { expect, it } from 'vitest';
import { literalAddress } from '../../../src/shared/download/allowed-hosts.js';
import { isPublicAddress } from '../../../src/shared/download/public-address.js';

it.each([
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ['link-local, a cloud’s metadata among them', '169.254.0.1', '169.254.169.254', 'fe80::1'],
  ['a zone of a link', 'fe80::1%eth0', '2606:4700::1111%eth0'],
  ['shared by carriers', '100.64.0.1', '100.127.255.255'],
  ['unique local', 'fc00::1', 'fd00:ec2::254'],
  ['site-local', 'fec0::1'],
  ['multicast and broadcast', '224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  ['reserved', '192.0.0.1', '192.0.0.192', '240.0.0.1', '192.88.99.1', '4000::1', 'e000::1'],
  ['benchmarks', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['IPv4 in IPv6', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::127.0.0.1', '64:ff9b::808:808', '64:ff9b:1::1'],
  ['6to4 and Teredo', '2002:7f00:1::', '2001:0:7f00:1::'],
  ['discard and ORCHID', '100::1', '2001:10::1', '2001:20::1'],
  ['no address', '', 'localhost', '127.1', '2130706433', '0x7f000001', '017700000001', '8.8.8'],
])('%s: none is public', (_, ...addresses) => {
  expect(addresses.filter(isPublicAddress)).toEqual([]);
});

it('addresses of the public internet are', () => {
  const addresses = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '169.253.1.1', '192.0.1.1'];
  const six = ['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001:800::200e'];
  expect([...addresses, ...six].filter((address) => !isPublicAddress(address))).toEqual([]);
});

it.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://127.0.0.1./',
  'http://０x7f．１/',
  'http://%31%32%37.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[0:0:0:0:0:ffff:7f00:1]/',
  'http://[::]/',
  'http://0/',
])('%s names an address that is not public, however it is written', (text) => {
  const address = literalAddress(new URL(text));
  expect(address).toBeDefined();
  expect(isPublicAddress(address ?? '8.8.8.8')).toBe(false);
});
