/** What an operator's toolbox module is written with (`skillmill/toolbox`). */
export { defineTool } from './define-tool.js';
export type { ToolCallInfo, ToolboxTool, ToolboxToolDefinition } from './define-tool.js';
export { defineMcpServer } from './define-mcp-server.js';
export type {
  HttpMcpServer,
  McpServer,
  McpServerDefinition,
  McpServerOptions,
  StdioMcpServer,
} from './define-mcp-server.js';
