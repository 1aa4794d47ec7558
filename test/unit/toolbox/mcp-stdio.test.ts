import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.js';
import {
  isAlive,
  openBox,
  processesWith,
  stdioServer,
  testServerPath,
} from '../../support/mcp-toolbox.js';
import { tempDir } from '../../support/temp-dir.js';

const pause = new Int32Array(new SharedArrayBuffer(4));

const infoOf = (result: unknown) =>
  result as { pid: number; cwd: string; env: Record<string, string> };

describe('a server that is a process', () => {
  it('gives all pages of its tools, as server__tool; what does not fit is left out with a warning', async () => {
    const { toolbox, logged } = await openBox([stdioServer()]);
    const pool = toolbox.current();
    expect([...pool.keys()]).toEqual([
      ...['test__add', 'test__say', 'test__fail', 'test__refuse', 'test__parts', 'test__big'],
      ...['test__info', 'test__slow', 'test__die', 'test__shout', 'test__longLine', 'test__spawn'],
      'test__grow',
    ]);
    expect(pool.get('test__add')?.definition).toEqual({
      name: 'test__add',
      description: 'Does add',
      parameters: { type: 'object', properties: {} },
    });
    expect(logged()).toMatch(/left out, since server__tool must be .*: bad\.name, l{64}/);
  });

  it('answers calls: structured content first, a text as it is, parts as a list', async () => {
    const { call } = await openBox([stdioServer()]);
    expect(await call('test__add', { a: 2, b: 40 })).toEqual({ sum: 42 });
    expect(await call('test__say', { text: '{"a":1}' })).toBe('{"a":1}');
    expect(await call('test__parts')).toEqual([
      { type: 'text', text: 'first' },
      { type: 'image', note: 'left out: image/png, 3000 bytes' },
      { type: 'resource', uri: 'mem://a', text: 'inside' },
      { type: 'resource', uri: 'mem://b', note: 'left out: x/y, 3 bytes' },
      { type: 'resource_link', uri: 'mem://c', name: 'c' },
    ]);
    const big = String(await call('test__big', { bytes: 1_000_000 }));
    expect(Buffer.byteLength(big)).toBeLessThanOrEqual(64 * 1024);
    expect(big).toMatch(/\[\d+ of 1000000 bytes left out\]$/);
  });

  it('tells what failed, and takes only an object', async () => {
    const { call } = await openBox([stdioServer()]);
    await expect(call('test__fail')).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'test__fail failed: there is no more paper',
    });
    await expect(call('test__refuse')).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'test__refuse failed: I refuse',
    });
    for (const args of [[1], 'text', null]) {
      await expect(call('test__add', args)).rejects.toMatchObject({ code: 'TOOL_INPUT_INVALID' });
    }
  });

  it('sees of the environment PATH, HOME and its definition only', async () => {
    const cwd = tmpdir();
    const env = { TEST_MCP_MODE: 'normal', OWN: 'mine' };
    process.env['OPENAI_API_KEY'] = 'sk-not-for-servers';
    const { call } = await openBox([stdioServer('normal', { env, cwd })]).finally(
      () => delete process.env['OPENAI_API_KEY'],
    );
    const info = infoOf(await call('test__info'));
    expect(Object.keys(info.env).sort()).toEqual(
      ['HOME', 'OWN', 'PATH', 'SKILLMILL_MCP_SERVER', 'TEST_MCP_MODE'].sort(),
    );
    expect(info.cwd).toBe(cwd);
  });

  it('is told when a call is cancelled, and serves others meanwhile', async () => {
    const { call } = await openBox([stdioServer()]);
    const cancel = new AbortController();
    const slow = call('test__slow', { steps: 1, ms: 60_000 }, cancel.signal);
    const others = await Promise.all([1, 2, 3].map((a) => call('test__add', { a, b: 1 })));
    expect(others).toEqual([{ sum: 2 }, { sum: 3 }, { sum: 4 }]);
    cancel.abort(new Error('the turn was cancelled'));
    await expect(slow).rejects.toThrow('the turn was cancelled');
    expect(await call('test__add', { a: 1, b: 1 })).toEqual({ sum: 2 });
  });

  it('has its time for a call, which progress renews', async () => {
    const { call } = await openBox([stdioServer('normal', { timeoutMs: 400 })]);
    await expect(call('test__slow', { steps: 1, ms: 5000 })).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: 'test__slow failed: it did not answer in time',
    });
    expect(await call('test__slow', { steps: 5, ms: 200, tell: true })).toBe('slept');
  });

  it('offers only what the operator wants of it', async () => {
    const { toolbox, logged } = await openBox([
      stdioServer('normal', { tools: ['add', 'subtract'] }),
    ]);
    expect([...toolbox.current().keys()]).toEqual(['test__add']);
    expect(logged()).toContain('the server has no such tools: subtract');
    expect(logged()).not.toContain('bad.name');
  });

  it('may change its list: new turns see it, a turn that runs keeps what it has', async () => {
    const { toolbox, call } = await openBox([stdioServer()]);
    const before = toolbox.current();
    await call('test__grow', { name: 'fresh' });
    await eventually('the new tool', () => toolbox.current().get('test__fresh'), 5000);
    expect(before.has('test__fresh')).toBe(false);
    expect(await call('test__fresh')).toBe('no tool fresh');
  });
});

describe('a server that dies', () => {
  it('in the middle of a call fails that call, and is there again for the next', async () => {
    const { call, logged } = await openBox([stdioServer()]);
    const [death, beside] = await Promise.allSettled([
      call('test__die'),
      call('test__slow', { steps: 1, ms: 60_000 }),
    ]);
    for (const end of [death, beside]) {
      expect(end).toMatchObject({ reason: { code: 'TOOL_FAILED' } });
      expect(JSON.stringify(end)).not.toContain('slept');
    }
    expect(String((death as PromiseRejectedResult).reason)).toMatch(
      /lost in the middle of the call \(it ended with exit code 7\)/,
    );
    expect(logged()).toContain('away; the next call connects again');
    const both = [call('test__info'), call('test__info')];
    const [one, other] = (await Promise.all(both)).map(infoOf);
    expect(one?.pid).toBe(other?.pid);
  });

  it('just before a call is started again for it: nobody can have read what was sent', async () => {
    const { call } = await openBox([stdioServer()]);
    const { pid } = infoOf(await call('test__info'));
    process.kill(pid, 'SIGKILL');
    // Without a turn of the event loop: nothing here can know of its end before the call is made.
    const status = join('/proc', String(pid), 'status');
    while (!/State:\tZ[^]*Threads:\t1\n/.test(readFileSync(status, 'utf8')))
      Atomics.wait(pause, 0, 0, 5);
    const again = infoOf(await call('test__info'));
    expect(again.pid).not.toBe(pid);
  });

  it('and does not come back is told to the model, each time, until it does', async () => {
    const gate = join(await tempDir(), 'gate');
    await writeFile(gate, '');
    const script = 'test -e "$0" || exit 9; exec "$@"';
    const args = ['-c', script, gate, process.execPath, testServerPath];
    const { call } = await openBox([stdioServer('normal', { command: 'sh', args })]);
    await rm(gate);
    await expect(call('test__die')).rejects.toThrow(/lost in the middle/);
    for (let time = 0; time < 2; time += 1) {
      await expect(call('test__add', { a: 1, b: 1 })).rejects.toMatchObject({
        code: 'TOOL_FAILED',
        message:
          'test__add failed: the MCP server test is away (it ended with exit code 9); nothing was done, and a later call tries again',
      });
    }
    await writeFile(gate, '');
    expect(await call('test__add', { a: 1, b: 1 })).toEqual({ sum: 2 });
  });

  it('leaves nothing of what it started', async () => {
    const { call } = await openBox([stdioServer()]);
    const { pids } = (await call('test__spawn')) as { pids: number[] };
    expect(await Promise.all(pids.map(isAlive))).toEqual([true, true]);
    const { pid } = infoOf(await call('test__info'));
    process.kill(pid, 'SIGKILL');
    await eventually('the end of its processes', async () =>
      (await Promise.all(pids.map(isAlive))).includes(true) ? undefined : true,
    );
    expect(infoOf(await call('test__info')).pid).not.toBe(pid);
  });
});

describe('closing', () => {
  it('ends the process and all that it started, also one that left its group', async () => {
    const { toolbox, call } = await openBox([stdioServer()]);
    const { pids } = (await call('test__spawn')) as { pids: number[] };
    const { pid, env } = infoOf(await call('test__info'));
    await toolbox.close();
    expect(await Promise.all([pid, ...pids].map(isAlive))).toEqual([false, false, false]);
    expect(
      await processesWith(`SKILLMILL_MCP_SERVER=${env['SKILLMILL_MCP_SERVER'] ?? ''}`),
    ).toEqual([]);
    await expect(call('test__add')).rejects.toMatchObject({ code: 'TOOL_FAILED' });
  });

  it('ends one that ignores its stdin and SIGTERM', async () => {
    const { toolbox, call } = await openBox([stdioServer('stubborn')]);
    const { pid } = infoOf(await call('test__info'));
    await toolbox.close();
    expect(await isAlive(pid)).toBe(false);
  });

  it('fails calls that run', async () => {
    const { toolbox, call } = await openBox([stdioServer()]);
    const slow = call('test__slow', { steps: 1, ms: 60_000 });
    const end = expect(slow).rejects.toMatchObject({ code: 'TOOL_FAILED' });
    await sleep(50);
    await toolbox.close();
    await end;
  });
});

describe('a server that writes what it should not', () => {
  it('may greet on stdout and be loud on stderr; the log is told a little of it', async () => {
    const { call, lines, logged } = await openBox([stdioServer('greeting')]);
    expect(await call('test__shout', { lines: 900 })).toBe('shouted');
    expect(await call('test__add', { a: 1, b: 1 })).toEqual({ sum: 2 });
    expect(logged()).toContain('Welcome to the server!');
    const told = lines.filter(({ message }) => message.endsWith('wrote'));
    expect(told.length).toBeGreaterThan(10);
    expect(told.length).toBeLessThanOrEqual(101);
    expect(new Set(told.map(({ level }) => level))).toEqual(new Set(['debug']));
  });

  it('is ended when it floods stdout', async () => {
    await expect(openBox([stdioServer('flood')])).rejects.toThrow(
      /its stdout holds something else than MCP messages/,
    );
  });

  it('is ended by a line without end, or much that is no message; the next call finds another', async () => {
    const { call } = await openBox([stdioServer()]);
    await expect(call('test__longLine')).rejects.toThrow(/a line of more than 10485760 bytes/);
    await expect(call('test__shout', { lines: 5000 })).rejects.toThrow(/something else than MCP/);
    expect(await call('test__add', { a: 1, b: 1 })).toEqual({ sum: 2 });
  });
});
