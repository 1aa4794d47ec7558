/** What every MCP server of the toolbox may say, however it is reached. */
export interface McpServerOptions {
  /** 1–40 of letters, digits, `_` and `-`; the server’s tools are called `name__tool`. */
  readonly name: string;
  /** Only these of the server’s tools, by their own names; without it all of them. */
  readonly tools?: readonly string[] | undefined;
  /** Milliseconds that a call may take; they begin anew when the server tells of progress. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that the server has to answer with its list of tools when it is started. Default 30,000. */
  readonly startTimeoutMs?: number | undefined;
}

/** A server that the worker starts as a process of its own and talks to over stdin and stdout. */
export interface StdioMcpServer extends McpServerOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** All that the process sees of an environment, beside the worker’s PATH and HOME. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: the worker’s working folder. */
  readonly cwd?: string | undefined;
  readonly url?: undefined;
}

/** A server that runs elsewhere and is reached over streamable HTTP. */
export interface HttpMcpServer extends McpServerOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly command?: undefined;
}

/** What `defineMcpServer` takes. */
export type McpServerDefinition = StdioMcpServer | HttpMcpServer;

/** An MCP server whose tools an operator offers to skills. Make it with `defineMcpServer`. */
export interface McpServer {
  readonly [serverMark]: true;
  readonly definition: McpServerDefinition;
}

/** Registered by name, so that a server of another copy of this package is known as one. */
const serverMark: unique symbol = Symbol.for('skillmill.toolbox.mcp-server');

/** Names an MCP server for the toolbox (`SKILLMILL_TOOLBOX`). It is started, or connected to, when a worker starts. */
export function defineMcpServer(definition: McpServerDefinition): McpServer {
  return { [serverMark]: true, definition };
}

/** Was this made by `defineMcpServer`? */
export function isMcpServer(value: unknown): value is McpServer {
  return typeof value === 'object' && value !== null && serverMark in value;
}
