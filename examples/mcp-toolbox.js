import { fileURLToPath } from 'node:url';
import { defineMcpServer } from 'skillmill/toolbox';

/** Tools of an MCP server (SKILLMILL_TOOLBOX=./examples/mcp-toolbox.js). A skill names them `calc__add`, `calc__multiply`. */
export const calc = defineMcpServer({
  name: 'calc',
  command: 'node',
  args: [fileURLToPath(new URL('calc-server.js', import.meta.url))],
});
