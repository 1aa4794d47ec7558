import { expect, it } from 'vitest';
import { z } from 'zod';
import { freePort } from '../../support/redis-server.js';
import { openBox, processesWith, stdioServer } from '../../support/mcp-toolbox.js';
import { defineMcpServer } from '../../../src/worker/toolbox/define-mcp-server.js';
import { defineTool } from '../../../src/worker/toolbox/define-tool.js';
import { checkToolbox } from '../../../src/worker/toolbox/load-toolbox.js';
import { secretsOfServers } from '../../../src/worker/toolbox/mcp-spec.js';

const ownTool = (name: string) =>
  defineTool({ name, description: 'own', parameters: z.object({}), execute: () => 'own' });

it('names all that is wrong at once, and leaves nothing running', async () => {
  const url = `http://127.0.0.1:${await freePort()}/mcp`;
  const mark = { env: { TEST_MCP_MODE: 'normal', TEST_MARK: 'all-faults' } };
  const opening = openBox(
    [
      stdioServer('normal', { name: 'fine', ...mark }),
      stdioServer('normal', { name: 'fine' }),
      stdioServer('normal', { name: 'no good' }),
      { name: 'gone', command: 'no-such-program' },
      { name: 'lost', command: 'sh', cwd: '/no/such/folder' },
      stdioServer('dies', { name: 'dies' }),
      stdioServer('mute', { name: 'mute', startTimeoutMs: 300 }),
      { name: 'away', url },
    ],
    [ownTool('skill_own')],
  );
  const error = await opening.then(undefined, (thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
  const message = (error as Error).message;
  for (const fault of [
    /^SKILLMILL_TOOLBOX box\.js: /,
    /skill_own: names that begin with skill_ are taken/,
    /MCP server "fine" is there twice/,
    /MCP server "no good": its name must be 1–40 of letters/,
    /the MCP server gone cannot be used: the command no-such-program cannot be started: there is no such program/,
    /the MCP server lost cannot be used: there is no folder \/no\/such\/folder/,
    /the MCP server dies cannot be used: it ended with exit code 3; the last that it wrote is: no licence found/,
    /the MCP server mute cannot be used: it did not answer in time/,
    /the MCP server away cannot be used: fetch failed \(connect ECONNREFUSED/,
  ]) {
    expect(message).toMatch(fault);
  }
  expect(await processesWith('TEST_MARK=all-faults')).toEqual([]);
});

it('the operator’s own tool of a name stands before a server’s', async () => {
  const { call, logged } = await openBox([stdioServer()], [ownTool('test__add')]);
  expect(await call('test__add')).toBe('own');
  expect(logged()).toContain('left out, since their names are taken: test__add');
});

const faultsOf = (...definitions: object[]) =>
  checkToolbox(
    't.js',
    [],
    definitions.map((given) => defineMcpServer(given as never)),
  ).faults;

it('checks what a definition may hold', () => {
  expect(faultsOf({ name: 'a', command: 'x' }, { name: 'b', url: 'https://x/mcp' })).toEqual([]);
  for (const [definition, fault] of [
    [{ name: 'a' }, /"a": command: /],
    [{ name: 'a', command: 'x', url: 'http://x' }, /"a": command: /],
    [{ name: 'a', command: '' }, /command: must not be empty/],
    [{ name: 'a', command: 'x', timeout: 5 }, /timeout: is not a known field/],
    [{ name: 'a', command: 'x', timeoutMs: 0 }, /timeoutMs: /],
    [{ name: 'a', command: 'x', timeoutMs: 2 ** 31 }, /timeoutMs: /],
    [{ name: 'a', command: 'x', env: { 'A=B': 'c' } }, /env/],
    [{ name: 'a', command: 'x', env: { A: 1 } }, /env\.A: /],
    [{ name: 'a', url: 'ftp://x' }, /url: must be an http/],
    [{ name: 'a', url: 'http://me:secret@x' }, /url: must be an http/],
    [{ name: 'a', url: 'http://x', headers: { 'a b': 'c' } }, /headers\.a b: cannot be sent/],
    [{ name: 'a', url: 'http://x', headers: { a: 'secret\n1' } }, /headers\.a: cannot be sent/],
    [{ name: 'skill', command: 'x' }, /names that begin with skill_ are taken/],
    [{ name: 'skill_x', command: 'x' }, /names that begin with skill_ are taken/],
    [{ name: 'x'.repeat(41), command: 'x' }, /must be 1–40/],
    [{ command: 'x' }, /name: /],
  ] as const) {
    const [found, ...others] = faultsOf(definition);
    expect(others).toEqual([]);
    expect(found).toMatch(fault);
    expect(found).not.toContain('secret');
  }
  expect(checkToolbox('t.js', [], []).faults).toEqual([
    'it exports no tool; make tools with defineTool or defineMcpServer',
  ]);
});

it('knows the secrets of definitions by their names', () => {
  const { servers } = checkToolbox(
    't.js',
    [],
    [
      defineMcpServer({ name: 'a', command: 'x', env: { API_KEY: 'k-1', LEVEL: 'info' } }),
      defineMcpServer({
        name: 'b',
        url: 'http://x',
        headers: { Authorization: 'Bearer t-2', Accept: 'all' },
      }),
    ],
  );
  expect(secretsOfServers(servers)).toEqual(['k-1', 'Bearer t-2', 't-2']);
});
