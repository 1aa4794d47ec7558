import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.js';
import { downloadFailed } from './download-failure.js';

/** The network as a download sees it; a test may bring its own. */
export interface NetworkView {
  readonly resolve: (hostname: string) => Promise<readonly LookupAddress[]>;
  readonly isPublic: (address: string) => boolean;
}

/** The real one. */
export const systemNetwork: NetworkView = {
  resolve: (hostname) => lookup(hostname, { all: true }),
  isPublic: isPublicAddress,
};

/**
 * The lookup of one connection: it asks once and hands on only addresses that are public, so that what is checked is what is
 * connected to, whatever the name answers next time. `refusal` is the error when none is left.
 */
export function checkedLookup(network: NetworkView, refusal: () => Error): LookupFunction {
  return (hostname, options, callback) => {
    network.resolve(hostname).then(
      (found) => {
        const [first, ...rest] = found.filter(({ address }) => network.isPublic(address));
        if (first === undefined) callback(refusal(), '', 0);
        else if (options.all === true) callback(null, [first, ...rest]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : refusal(), '', 0),
    );
  };
}

/** The error for a host that is not public. `setting` is what would allow it. */
export function addressRefused(url: URL, setting: string): Error {
  return downloadFailed(
    'address_refused',
    url,
    `is at an address that is not public, and such a host is asked only when ${setting} names it.`,
  );
}
