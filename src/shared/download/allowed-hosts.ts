import { isIP } from 'node:net';

/** Hosts that may be asked though their addresses are not public: `host`, `host:port` (IPv6 in brackets), or `*` for all. */
export type AllowedHosts = readonly string[];

/** An entry in the form in which hosts are compared; undefined when it is none. */
export function toAllowedHost(entry: string): string | undefined {
  if (entry === '*') return entry;
  if (!/^(\[[^\]]+\]|[^/:@?#\s]+)(:\d{1,5})?$/.test(entry)) return undefined;
  // The parser writes names and addresses the way it will write those of the URLs to come; no scheme's own port may vanish.
  const text = `http://${entry}`;
  if (!URL.canParse(text)) return undefined;
  const port = /:(\d+)$/.exec(entry)?.[1];
  const { hostname } = new URL(text);
  return port === undefined ? hostname : `${hostname}:${Number(port)}`;
}

/** Does the list name the URL's host, or its host and port? */
export function isAllowedHost(hosts: AllowedHosts, url: URL): boolean {
  return hosts.some((host) => host === '*' || host === url.hostname || host === hostAndPort(url));
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  const own = protocol === 'https:' ? '443' : '80';
  return `${hostname}:${port === '' ? own : port}`;
}

/** The address that stands in a URL in place of a name, without brackets. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}
