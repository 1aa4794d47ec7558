import { describe, expect, it } from 'vitest';
import type { NetworkView } from '../../../src/shared/download/checked-lookup.js';
import { faultOf, get, server } from '../../support/downloads.js';
import { redirects, sends, startFileServer } from '../../support/file-server.js';

describe('a redirect', () => {
  it('is followed, relative ones too, five times and no more', async () => {
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length }, (_, at) => [
          `/${at}`,
          redirects(String(at + 1), [301, 302, 303, 307, 308][at % 5]),
        ]),
      );
    const { url, requests } = await server({ ...chain(5), '/5': sends('end') });
    expect(await get(`${url}/0`)).toBe('end');
    expect(requests).toHaveLength(6);
    const longer = await server({ ...chain(6), '/6': sends('end') });
    expect(await faultOf(get(`${longer.url}/0`))).toMatchObject({ reason: 'too_many_redirects' });
    expect(longer.requests).toHaveLength(6);
  });

  it('takes the headers along on its own host only', async () => {
    const other = await server({ '/b': sends('file') });
    const { url, requests } = await server({
      '/a': redirects('/own'),
      '/own': redirects(`${other.url}/b`),
    });
    expect(await get(`${url}/a`, { headers: { authorization: 'Bearer secret' } })).toBe('file');
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ]);
    expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('to a host that is not allowed is refused before anything is sent', async () => {
    const inner = await server({ '/secret': sends('secret') }, { hostname: '127.0.0.2' });
    const { url } = await server({ '/a': redirects(`${inner.url}/secret`) });
    const fault = await faultOf(get(`${url}/a`));
    expect(fault).toMatchObject({ reason: 'address_refused', retryable: false });
    expect(fault.message).toContain('ALLOW');
    expect(inner.requests).toEqual([]);
  });

  it.each([
    ['file:///etc/passwd', 'file:'],
    ['ftp://127.0.0.1/x', 'ftp:'],
    ['http://user:pass@127.0.0.1/x', '127.0.0.1/x'],
    ['http://', '/a'],
  ])('to %s is refused', async (location, shown) => {
    const { url } = await server({ '/a': redirects(location) });
    const fault = await faultOf(get(`${url}/a`));
    expect(fault).toMatchObject({ reason: 'url_refused', retryable: false });
    expect(fault.message).toContain(shown);
    expect(JSON.stringify(fault)).not.toContain('pass@');
  });
});

describe('an address', () => {
  const loopback = (...addresses: string[]): NetworkView & { asked: () => number } => {
    let asked = 0;
    return {
      asked: () => asked,
      resolve: () => {
        const address = addresses[asked] ?? '127.0.0.1';
        asked += 1;
        return Promise.resolve([{ address, family: 4 }]);
      },
      // As if 127.0.0.2 were on the internet.
      isPublic: (address) => address === '127.0.0.2',
    };
  };

  it('that is not public is refused, as it stands and by name', async () => {
    const { url, port, requests } = await server({ '/a': sends('secret') });
    const names = [
      url,
      `http://localhost:${port}`,
      `http://2130706433:${port}`,
      `http://0:${port}`,
    ];
    for (const name of [...names, `http://[::ffff:127.0.0.1]:${port}`]) {
      const fault = await faultOf(get(`${name}/a`, { allowHosts: ['elsewhere'] }));
      expect(fault, name).toMatchObject({ reason: 'address_refused', retryable: false });
    }
    expect(requests).toEqual([]);
    expect(await get(`http://localhost:${port}/a`, { allowHosts: [`localhost:${port}`] })).toBe(
      'secret',
    );
  });

  it('that was checked is the one that is connected to, whatever the name answers next', async () => {
    const inner = await server({ '/a': sends('secret') });
    const outer = await server(
      { '/a': sends('public') },
      { hostname: '127.0.0.2', port: inner.port },
    );
    const network = loopback('127.0.0.2', '127.0.0.1', '127.0.0.2');
    const url = `http://rebinds.example:${inner.port}/a`;
    expect(await get(url, { network })).toBe('public');
    expect(network.asked()).toBe(1);
    expect(await faultOf(get(url, { network }))).toMatchObject({ reason: 'address_refused' });
    expect(network.asked()).toBe(2);
    expect(await get(url, { network })).toBe('public');
    expect([inner.requests.length, outer.requests.length]).toEqual([0, 2]);
  });

  it('that is public is taken where a name has others beside it', async () => {
    const inner = await server({ '/a': sends('secret') });
    await server({ '/a': sends('public') }, { hostname: '127.0.0.2', port: inner.port });
    const both = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
    const network = { ...loopback(), resolve: () => Promise.resolve(both) };
    expect(await get(`http://two.example:${inner.port}/a`, { network })).toBe('public');
    expect(inner.requests).toEqual([]);
  });

  it('that nobody knows, or where nobody listens, is told', async () => {
    const gone = await startFileServer({});
    await gone.close();
    expect(await faultOf(get(gone.url))).toMatchObject({ reason: 'connection', retryable: true });
    const unknown = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    const network = { ...loopback(), resolve: () => Promise.reject(unknown) };
    const fault = await faultOf(get('http://nobody.example/', { network }));
    expect(fault).toMatchObject({ reason: 'host_not_found', retryable: false });
  });
});

it('no fault shows a password or a query', async () => {
  const { url } = await server({ '/a': (_, r) => r.writeHead(403).end() });
  const faults = [
    await faultOf(get(`${url}/a?X-Signature=canary#canary`)),
    await faultOf(get(`${url.replace('//', '//canary:canary@')}/a`)),
    await faultOf(get(`ftp://canary:canary@127.0.0.1/?canary`)),
    await faultOf(get(`http://10.0.0.1/a?canary`)),
    await faultOf(get(`not a URL canary`)),
  ];
  expect(JSON.stringify(faults)).not.toContain('canary');
  expect(faults[0]?.message).toContain(`${url}/a?…`);
});
