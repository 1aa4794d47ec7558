import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

/** An MCP server of one process, started by `mcp-toolbox.js`: it reads requests from stdin and answers on stdout. */
const server = new McpServer({ name: 'calc', version: '1.0.0' });
const numbers = { a: z.number(), b: z.number() };

server.registerTool(
  'add',
  { description: 'Adds two numbers', inputSchema: numbers },
  ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
);

server.registerTool(
  'multiply',
  { description: 'Multiplies two numbers', inputSchema: numbers },
  ({ a, b }) => ({ content: [{ type: 'text', text: String(a * b) }] }),
);

await server.connect(new StdioServerTransport());
