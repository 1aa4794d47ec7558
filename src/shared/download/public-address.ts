import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Does this address belong to the public internet? Whatever has a special use (private, loopback, link-local, shared by carriers,
 * multicast, documentation …) does not, nor do IPv6 addresses that carry an IPv4 one (mapped, NAT64, 6to4, Teredo): a gateway may turn
 * them into any of these.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return ipaddr.IPv4.parse(address).range() === 'unicast';
  // A zone (fe80::1%eth0) only ever belongs to a link.
  if (!isIPv6(address) || address.includes('%')) return false;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.range() === 'unicast' && parsed.match(globalUnicast, 3);
}

/** All of IPv6 that has been given out so far. */
const globalUnicast = ipaddr.IPv6.parse('2000::');
