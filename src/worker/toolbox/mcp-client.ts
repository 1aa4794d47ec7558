import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  JSONRPCMessageSchema,
  McpError,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { errorMessage } from '../../shared/errors/skillmill-error.js';
import { within } from '../async/deadline.js';
import type { CallOutcome, ListedTools, McpCall } from './mcp-call.js';
import { createBoundedFetch } from './mcp-fetch.js';
import { NotSentError } from './mcp-process.js';
import type { HttpSpec, McpSpec } from './mcp-spec.js';
import { withOwnSignal } from './own-signal.js';
import { StdioTransport, type StdioTransportOptions } from './mcp-stdio.js';

export interface McpSessionOptions extends Pick<
  StdioTransportOptions<unknown>,
  'baseEnv' | 'onText'
> {
  readonly spec: McpSpec;
  /** Called once, when an open session is of no use any more. */
  readonly onEnd: (reason: string) => void;
  readonly onToolsChanged: () => void;
}

const maxTools = 1000;
const maxPages = 100;
const maxReasonLength = 2000;
const pingMs = 5000;
const goodbyeMs = 1000;
/** Calls that were sent together hear one by one that they did not arrive. */
const othersMs = 500;
const requestTimeout: number = ErrorCode.RequestTimeout;

const anyResult = z.looseObject({});
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });
const answerSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

type SessionTransport = Transport & { terminateSession?: () => Promise<void> };

/** A connection to a server: new ──open()──▶ open ──close(), or the server's end──▶ ended. It is not opened again. */
export class McpSession {
  readonly #client = new Client({ name: 'skillmill', version: '1' });
  readonly #options: McpSessionOptions;
  readonly #transport: SessionTransport;
  #isOpen = false;
  #endReason: string | undefined;
  #ending: Promise<void> | undefined;
  #isInDoubt = false;

  constructor(options: McpSessionOptions) {
    this.#options = options;
    this.#transport = this.#makeTransport(options);
    this.#client.onclose = () => {
      if (this.#isOpen) void this.#end('the connection was closed');
    };
    this.#client.onerror = () => void this.#pingInDoubt();
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, options.onToolsChanged);
  }

  /** Connects and greets. @throws Error that says why the server cannot be used; nothing is left of it then */
  async open(signal: AbortSignal): Promise<void> {
    const timeout = this.#options.spec.startTimeoutMs;
    try {
      await withOwnSignal(signal, (own) =>
        this.#client.connect(this.#transport, { signal: own, timeout }),
      );
      this.#isOpen = true;
    } catch (error) {
      const why = error instanceof NotSentError ? await error.why : describe(error);
      const reason = this.#endReason ?? why;
      await this.#end(reason);
      throw new Error(reason, { cause: error });
    }
  }

  /** @throws Error */
  async listTools(signal: AbortSignal): Promise<ListedTools> {
    const tools: unknown[] = [];
    if (this.#client.getServerCapabilities()?.tools === undefined) return { tools, isWhole: true };
    let cursor: string | undefined;
    for (let page = 0; page < maxPages && tools.length <= maxTools; page += 1) {
      const listed = await this.#listPage(cursor, signal);
      tools.push(...listed.tools);
      cursor = listed.nextCursor ?? '';
      if (cursor === '') break;
    }
    const isWhole = cursor === '' && tools.length <= maxTools;
    return { tools: tools.slice(0, maxTools), isWhole };
  }

  /** Calls a tool; any number of calls at a time. @throws the signal's reason, and the server is told */
  async call({ tool, args, callKey, signal }: McpCall): Promise<CallOutcome> {
    if (this.#endReason !== undefined) return { kind: 'unreached', reason: this.#endReason };
    const params = { name: tool, arguments: args, _meta: { 'skillmill/callKey': callKey } };
    const patience = { timeout: this.#options.spec.timeoutMs, resetTimeoutOnProgress: true };
    try {
      const answer = await withOwnSignal(signal, (own) =>
        this.#client.request({ method: 'tools/call', params }, anyResult, {
          ...patience,
          signal: own,
          onprogress: () => undefined, // asks for progress, which renews the time
        }),
      );
      const parsed = answerSchema.safeParse(answer);
      if (parsed.success) return { kind: 'answered', answer: parsed.data };
      return { kind: 'failed', reason: 'its answer is no result of a tool' };
    } catch (error) {
      signal.throwIfAborted();
      return this.#failed(error);
    }
  }

  /** Ends the session, and with it a server that is a process; idempotent. */
  async close(): Promise<void> {
    if (this.#endReason === undefined && this.#transport.terminateSession !== undefined) {
      await within(
        this.#transport.terminateSession().catch(() => undefined),
        goodbyeMs,
      );
    }
    await this.#end('it was closed');
  }

  #makeTransport(options: McpSessionOptions): SessionTransport {
    const { spec, baseEnv, onText } = options;
    if (spec.url !== undefined) return httpTransport(spec, (reason) => void this.#end(reason));
    const onEnd = (reason: string) => void (this.#endReason ??= reason);
    return new StdioTransport({ spec, baseEnv, onText, onEnd, parse: parseMessage });
  }

  async #listPage(cursor: string | undefined, signal: AbortSignal) {
    const params = cursor === undefined ? {} : { cursor };
    const timeout = this.#options.spec.startTimeoutMs;
    try {
      return await withOwnSignal(signal, (own) =>
        this.#client.request({ method: 'tools/list', params }, pageSchema, {
          signal: own,
          timeout,
        }),
      );
    } catch (error) {
      const reason = this.#endReason ?? `its list of tools cannot be read: ${describe(error)}`;
      throw new Error(reason, { cause: error });
    }
  }

  #failed(error: unknown): CallOutcome {
    if (neverArrived(error, this.#transport.sessionId !== undefined)) {
      const reason = describe(error);
      void this.#end(reason, othersMs);
      return { kind: 'unreached', reason };
    }
    if (this.#endReason === undefined) return { kind: 'failed', reason: describe(error) };
    const reason = `the server was lost in the middle of the call (${this.#endReason})`;
    return { kind: 'failed', reason };
  }

  #end(reason: string, afterMs = 0): Promise<void> {
    if (this.#ending !== undefined) return this.#ending;
    this.#endReason ??= reason;
    this.#ending = sleep(afterMs).then(() => this.#transport.close());
    if (this.#isOpen) this.#options.onEnd(this.#endReason);
    return this.#ending;
  }

  /** A fault of a connection over HTTP may mean that the server is gone; calls that wait for it would not be told. */
  async #pingInDoubt(): Promise<void> {
    const { spec } = this.#options;
    if (spec.url === undefined || !this.#isOpen) return;
    if (this.#isInDoubt || this.#endReason !== undefined) return;
    this.#isInDoubt = true;
    try {
      // Twice: a connection that was kept for the next request may be the only thing that is gone.
      await this.#client
        .ping({ timeout: pingMs })
        .catch(() => this.#client.ping({ timeout: pingMs }));
    } catch (error) {
      const isAnswer = error instanceof McpError && !isTimeout(error);
      if (!isAnswer) void this.#end(describe(error));
    } finally {
      this.#isInDoubt = false;
    }
  }
}

function httpTransport(spec: HttpSpec, onTooLong: (reason: string) => void): SessionTransport {
  return new StreamableHTTPClientTransport(new URL(spec.url), {
    fetch: createBoundedFetch(onTooLong),
    requestInit: { headers: spec.headers },
  });
}

function parseMessage(text: string) {
  try {
    return JSONRPCMessageSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function isTimeout(error: unknown): boolean {
  if (error instanceof McpError) return error.code === requestTimeout;
  return error instanceof DOMException && error.name === 'TimeoutError';
}

/** Was the request surely not begun: nobody listens or reads, or the server does not know the session (any more)? */
function neverArrived(error: unknown, hasSession: boolean): boolean {
  if (error instanceof NotSentError) return true;
  if (error instanceof StreamableHTTPError) {
    return hasSession && (error.code === 404 || error.code === 400);
  }
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

function describe(error: unknown): string {
  if (isTimeout(error)) return 'it did not answer in time';
  const status = error instanceof StreamableHTTPError ? `HTTP ${error.code ?? ''}: ` : '';
  const text = errorMessage(error).replace(/^MCP error -?\d+: /, '');
  // `fetch failed` says nothing by itself.
  const cause = error instanceof TypeError ? error.cause : undefined;
  const more = cause === undefined ? '' : ` (${errorMessage(cause)})`;
  return `${status}${text}${more}`.slice(0, maxReasonLength);
}
