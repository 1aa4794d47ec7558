/** A URL as people and logs may see it: no user name, password, query or fragment, since each may hold a secret. */
export function shownUrl(url: string | URL): string {
  const parsed = typeof url !== 'string' ? url : URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) return '(not a URL)';
  const { protocol, host, pathname, search } = parsed;
  return `${protocol}//${host}${pathname}${search === '' ? '' : '?…'}`;
}
