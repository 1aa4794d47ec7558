import { onTestFinished, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.js';
import {
  startHttpMcpServer,
  type HttpMcpTestOptions,
  type HttpMcpTestServer,
} from '../../support/mcp-http-server.js';
import { openBox } from '../../support/mcp-toolbox.js';

async function httpServer(options: HttpMcpTestOptions = {}): Promise<HttpMcpTestServer> {
  const server = await startHttpMcpServer(options);
  onTestFinished(() => server.stop().catch(() => undefined));
  return server;
}

const isAway = (log: string) => log.includes('MCP server far: away');

describe('a server over streamable HTTP', () => {
  for (const json of [false, true]) {
    it(`lists and answers with ${json ? 'JSON' : 'event streams'}`, async () => {
      const { url, record } = await httpServer({ json });
      const { toolbox, call } = await openBox([{ name: 'far', url }]);
      expect(toolbox.current().size).toBe(13);
      const both = [call('far__add', { a: 1, b: 2 }), call('far__say', { text: 'hi' })];
      expect(await Promise.all(both)).toEqual([{ sum: 3 }, 'hi']);
      await expect(call('far__fail')).rejects.toThrow('far__fail failed: there is no more paper');
      expect(record.callKeys).toEqual(Array(3).fill('turn_a_1_call'));
    });
  }

  it('gets the headers; without them the worker does not start, and shows no secret', async () => {
    const { url } = await httpServer({ token: 't-0123' });
    const headers = { Authorization: 'Bearer t-0123' };
    const { call } = await openBox([{ name: 'far', url, headers }]);
    expect(await call('far__say', { text: 'hi' })).toBe('hi');
    await expect(openBox([{ name: 'far', url: `${url}?key=s-4567` }])).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/far cannot be used: HTTP 401: .*who is there/) as string,
    });
  });

  it('is told of a cancelled call, and of no call that is over', async () => {
    const { url, record } = await httpServer();
    const { call } = await openBox([{ name: 'far', url }]);
    const turn = new AbortController();
    await call('far__add', { a: 1, b: 1 }, turn.signal);
    const slow = call('far__slow', { steps: 1, ms: 3000 }, turn.signal);
    await eventually('the call', () => (record.callKeys.length === 2 ? true : undefined));
    turn.abort(new Error('the turn was cancelled'));
    await expect(slow).rejects.toThrow('the turn was cancelled');
    await eventually('the news', () => (record.cancelled.length > 0 ? true : undefined), 5000);
    expect(record.cancelled).toEqual(['slow']);
  });

  it('may change its list', async () => {
    const { url } = await httpServer();
    const { toolbox, call } = await openBox([{ name: 'far', url }]);
    await call('far__grow', { name: 'fresh' });
    await eventually('the new tool', () => toolbox.current().get('far__fresh'), 5000);
  });

  it('that was started anew is greeted anew', async () => {
    const first = await httpServer();
    const { call, logged } = await openBox([{ name: 'far', url: first.url }]);
    await first.stop();
    const second = await httpServer({ port: first.port });
    await eventually('the news of its end', () => (isAway(logged()) ? true : undefined));
    expect(await call('far__add', { a: 1, b: 1 })).toEqual({ sum: 2 });
    expect(second.sessions.size).toBe(1);
  });

  it('that has forgotten the session is greeted anew within the call', async () => {
    const { url, sessions } = await httpServer();
    const { call } = await openBox([{ name: 'far', url }]);
    sessions.clear();
    const both = [call('far__add', { a: 1, b: 1 }), call('far__add', { a: 2, b: 2 })];
    expect(await Promise.all(both)).toEqual([{ sum: 2 }, { sum: 4 }]);
    expect(sessions.size).toBe(1);
  });

  it('that is away is told to the model; nothing else comes of it', async () => {
    const server = await httpServer();
    const { call, logged } = await openBox([{ name: 'far', url: server.url }]);
    await server.stop();
    await eventually('the news of its end', () => (isAway(logged()) ? true : undefined));
    await expect(call('far__add')).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: expect.stringMatching(/far is away \(.*ECONNREFUSED/) as string,
    });
    await httpServer({ port: server.port });
    expect(await call('far__add', { a: 1, b: 1 })).toEqual({ sum: 2 });
  });

  it('that dies in the middle of a call fails it at once, not after its time', async () => {
    const server = await httpServer();
    const { url, record } = server;
    const { call } = await openBox([{ name: 'far', url }]);
    const slow = call('far__slow', { steps: 1, ms: 3000 });
    const end = expect(slow).rejects.toThrow(/lost in the middle of the call/);
    await eventually('the call', () => (record.callKeys.length === 1 ? true : undefined));
    await server.stop();
    await end;
  });

  it('that sends too much is left, and connected to again', async () => {
    for (const json of [true, false]) {
      const { url } = await httpServer({ json });
      const { call } = await openBox([{ name: 'far', url }]);
      await expect(call('far__big', { bytes: 11 * 1024 * 1024 })).rejects.toThrow(
        /a message of more than 10485760 bytes/,
      );
      expect(await call('far__add', { a: 1, b: 1 })).toEqual({ sum: 2 });
    }
  });

  it('is told goodbye', async () => {
    const { url, sessions } = await httpServer();
    const { toolbox } = await openBox([{ name: 'far', url }]);
    expect(sessions.size).toBe(1);
    await toolbox.close();
    expect(sessions.size).toBe(0);
  });
});
