import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallRecord, createTestServer } from './mcp-test-server.js';

export interface HttpMcpTestServer {
  readonly url: string;
  readonly port: number;
  readonly record: CallRecord;
  /** Ids of the sessions that are open. */
  readonly sessions: Map<string, StreamableHTTPServerTransport>;
  /** Ends it at once, connections too. */
  stop(): Promise<void>;
}

export interface HttpMcpTestOptions {
  readonly port?: number;
  /** Who does not send this is answered with 401. */
  readonly token?: string;
  /** Answers are JSON documents, not event streams. */
  readonly json?: boolean;
}

/** The test server over streamable HTTP, on a loopback port. */
export async function startHttpMcpServer(
  options: HttpMcpTestOptions = {},
): Promise<HttpMcpTestServer> {
  const record = new CallRecord();
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const server = createServer((request, response) => {
    answer(request, response, { record, sessions, options }).catch(() => response.destroy());
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    record,
    sessions,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Desk {
  readonly record: CallRecord;
  readonly sessions: Map<string, StreamableHTTPServerTransport>;
  readonly options: HttpMcpTestOptions;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { record, sessions, options }: Desk,
): Promise<void> {
  if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`) {
    response.writeHead(401).end(`who is ${request.headers.authorization ?? 'there'}?`);
    return;
  }
  const body: unknown = request.method === 'POST' ? await json(request) : undefined;
  const id = request.headers['mcp-session-id'];
  const known = typeof id === 'string' ? sessions.get(id) : undefined;
  if (known !== undefined) {
    await known.handleRequest(request, response, body);
    return;
  }
  if (id !== undefined) {
    response.writeHead(404).end('no such session');
    return;
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: options.json ?? false,
    onsessioninitialized: (made) => void sessions.set(made, transport),
    onsessionclosed: (ended) => void sessions.delete(ended),
  });
  await createTestServer(record).connect(transport);
  await transport.handleRequest(request, response, body);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
