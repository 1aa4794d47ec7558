import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/**
 * An MCP server for tests, made with the SDK. As a program it speaks over stdio; TEST_MCP_MODE says how it misbehaves.
 *
 * @typedef {import('@modelcontextprotocol/sdk/types.js').CallToolResult} Result
 * @typedef {import('@modelcontextprotocol/sdk/shared/protocol.js').RequestHandlerExtra<import('@modelcontextprotocol/sdk/types.js').ServerRequest, import('@modelcontextprotocol/sdk/types.js').ServerNotification>} Extra
 * @typedef {{ args: Record<string, unknown>, extra: Extra }} Call
 * @typedef {(call: Call) => Result | Promise<Result>} Answer
 */

/** What calls left behind, for servers in the test's own process. */
export class CallRecord {
  /** @type {string[]} */
  cancelled = [];
  /** @type {unknown[]} */
  callKeys = [];
  /** @type {string[]} */
  extraTools = [];
}

/** @param {string} text @returns {Result} */
const said = (text) => ({ content: [{ type: 'text', text }] });

/** @type {Record<string, Answer>} */
const answers = {
  add: ({ args }) => ({
    content: [{ type: 'text', text: String(Number(args['a']) + Number(args['b'])) }],
    structuredContent: { sum: Number(args['a']) + Number(args['b']) },
  }),
  say: ({ args }) => said(String(args['text'])),
  fail: () => ({ ...said('there is no more paper'), isError: true }),
  refuse: () => {
    throw new Error('I refuse');
  },
  parts: () => ({
    content: [
      { type: 'text', text: 'first' },
      { type: 'image', data: Buffer.alloc(3000).toString('base64'), mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'mem://a', text: 'inside' } },
      { type: 'resource', resource: { uri: 'mem://b', blob: 'AAAA', mimeType: 'x/y' } },
      { type: 'resource_link', uri: 'mem://c', name: 'c' },
    ],
  }),
  big: ({ args }) => said('x'.repeat(Number(args['bytes']))),
  info: () => ({
    content: [],
    structuredContent: { pid: process.pid, cwd: process.cwd(), env: { ...process.env } },
  }),
  slow: async ({ args, extra }) => {
    for (let step = 1; step <= Number(args['steps']); step += 1) {
      await sleep(Number(args['ms']));
      const progressToken = extra._meta?.progressToken;
      if (args['tell'] === true && progressToken !== undefined) {
        const params = { progressToken, progress: step };
        await extra.sendNotification({ method: 'notifications/progress', params });
      }
    }
    return said('slept');
  },
  die: () => process.exit(7),
  shout: ({ args }) => {
    for (let line = 0; line < Number(args['lines']); line += 1) process.stdout.write('hey!\n');
    process.stderr.write('oops\n'.repeat(Number(args['lines'])));
    return said('shouted');
  },
  longLine: () => {
    process.stdout.write('{'.repeat(11 * 1024 * 1024));
    return said('never read');
  },
  spawn: () => {
    const one = spawn('sleep', ['1000'], { stdio: 'ignore' });
    const other = spawn('sleep', ['1000'], { stdio: 'inherit', detached: true });
    return { content: [], structuredContent: { pids: [one.pid, other.pid] } };
  },
};

const pageSize = 5;

/**
 * A server with all of the tools, some of which have names that cannot be offered.
 * @param {CallRecord} [record]
 */
export function createTestServer(record = new CallRecord()) {
  // The server beneath, since only that one can page, and list names that break the rules.
  const { server } = new McpServer(
    { name: 'test', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const names = [...Object.keys(answers), 'grow', 'bad.name', 'l'.repeat(64)];
    const all = [...names, ...record.extraTools].map((name) => ({
      name,
      description: `Does ${name}`,
      inputSchema: { type: /** @type {const} */ ('object') },
    }));
    const from = Number(params?.cursor ?? 0);
    const next = from + pageSize;
    return {
      tools: all.slice(from, next),
      ...(next < all.length && { nextCursor: String(next) }),
    };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: args = {}, _meta: meta } = params;
    record.callKeys.push(meta?.['skillmill/callKey']);
    extra.signal.addEventListener('abort', () => record.cancelled.push(name));
    if (name === 'grow') {
      record.extraTools.push(String(args['name']));
      await server.sendToolListChanged();
      return said('grown');
    }
    const answer = answers[name];
    return answer === undefined ? said(`no tool ${name}`) : answer({ args, extra });
  });
  return server;
}

/** @type {Record<string, () => void | Promise<void>>} */
const modes = {
  normal: () => createTestServer().connect(new StdioServerTransport()),
  /** Not even SIGTERM or the end of its stdin ends it. */
  stubborn: async () => {
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1000);
    await createTestServer().connect(new StdioServerTransport());
  },
  greeting: async () => {
    process.stdout.write('Welcome to the server!\n{"not": "a message"}\n{broken\n\n');
    await createTestServer().connect(new StdioServerTransport());
  },
  mute: () => void setInterval(() => undefined, 1000),
  dies: () => {
    process.stderr.write('no licence found\n');
    process.exit(3);
  },
  flood: () => {
    const flood = () => {
      while (process.stdout.write('garbage\n'.repeat(1000)));
      process.stdout.once('drain', flood);
    };
    flood();
  },
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await modes[process.env['TEST_MCP_MODE'] ?? 'normal']?.();
}
