import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A web server whose answers are the test's own. */
export interface FileServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Paths that were asked for, in order, each with its headers. */
  readonly requests: readonly {
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
  }[];
  close(): Promise<void>;
}

/** Starts one; a path that has no answer is a 404. */
export async function startFileServer(
  answers: Readonly<Record<string, Answer>>,
  { hostname = '127.0.0.1', port = 0 } = {},
): Promise<FileServer> {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    requests.push({ path, headers: request.headers });
    const answer = answers[path];
    if (answer === undefined) response.writeHead(404).end('not here');
    else answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  const host = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${bound}`;
  return {
    url: `http://${host}`,
    host,
    port: bound,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with these bytes. */
export const sends =
  (body: string | Uint8Array, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(200, headers).end(body);

/** Answers with a redirect. */
export const redirects =
  (location: string, status = 302): Answer =>
  (_, response) =>
    response.writeHead(status, { location }).end();
