import { setTimeout as sleep } from 'node:timers/promises';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { Logger } from '../../shared/logging/logger.js';
import { untilAbort } from '../async/until-abort.js';
import type { ToolCallInfo } from './define-tool.js';
import { LineLog } from './line-cutter.js';
import type { CallOutcome, McpCall } from './mcp-call.js';
import { McpSession } from './mcp-client.js';
import { toFailure, toResult } from './mcp-result.js';
import type { McpSpec } from './mcp-spec.js';
import { readTools, type RemoteTool } from './mcp-tools.js';

export interface McpLinkOptions {
  readonly spec: McpSpec;
  /** What every server's process may know of the worker's environment. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly log: Logger['log'];
  /** The list of tools is another one than before. */
  readonly onTools: () => void;
}

/** Changes of a list that come within this time are read at once. */
const settleMs = 250;
const maxWordsLength = 300;

/**
 * What the worker holds of one MCP server, as long as it runs: `up ──the server's end──▶ down ──the next call──▶ up` …,
 * and `close()` from anywhere. Down is no fault of a turn: calls try to connect once, and tell the model what came of it.
 */
export class McpLink {
  readonly #options: McpLinkOptions;
  readonly #closing = new AbortController();
  #session: McpSession | undefined;
  #opening: Promise<McpSession> | undefined;
  #tools: readonly RemoteTool[] = [];
  #warned = '';
  /** The last line that the server wrote beside its messages. */
  #lastWords = '';
  #isListOld = false;
  #isRelisting = false;
  /** The end of sessions that were lost: what is left of their processes goes. */
  #farewell = Promise.resolve();

  constructor(options: McpLinkOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.spec.name;
  }

  /** What the server offers, as far as is known. */
  get tools(): readonly RemoteTool[] {
    return this.#tools;
  }

  /** Connects for the first time and reads the list of tools. @throws Error that says why that cannot be done */
  async start(): Promise<void> {
    const late = AbortSignal.timeout(this.#options.spec.startTimeoutMs);
    try {
      const session = await this.#open();
      await this.#list(session, AbortSignal.any([late, this.#closing.signal]));
    } catch (error) {
      const said = this.#lastWords === '' ? '' : `; the last that it wrote is: ${this.#lastWords}`;
      throw new Error(`${errorMessage(error)}${said}`, { cause: error });
    }
  }

  /** Calls a tool. @throws SkillmillError TOOL_INPUT_INVALID, TOOL_FAILED; the signal's reason */
  async call(tool: RemoteTool, args: unknown, info: ToolCallInfo): Promise<unknown> {
    const { name } = tool.definition;
    if (!isRecord(args)) {
      throw new SkillmillError(
        'TOOL_INPUT_INVALID',
        `Wrong arguments for ${name}: they must be an object.`,
      );
    }
    const { callKey, signal } = info;
    const outcome = await this.#outcomeOf({ tool: tool.remoteName, args, callKey, signal });
    if (outcome.kind === 'answered') {
      if (outcome.answer.isError !== true) return toResult(outcome.answer);
      throw failed(name, toFailure(outcome.answer));
    }
    if (outcome.kind === 'failed') throw failed(name, outcome.reason);
    throw failed(
      name,
      `the MCP server ${this.name} is away (${outcome.reason}); nothing was done, and a later call tries again`,
    );
  }

  /** Ends the connection, and the server when it is a process; idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the worker stops'));
    await this.#opening?.catch(() => undefined);
    await this.#session?.close();
    await this.#farewell;
  }

  async #outcomeOf(call: McpCall): Promise<CallOutcome> {
    const before = this.#session;
    const first = await before?.call(call);
    if (first !== undefined && first.kind !== 'unreached') return first;
    try {
      const session = await untilAbort(this.#sessionAfter(before), call.signal);
      return await session.call(call);
    } catch (error) {
      call.signal.throwIfAborted();
      return { kind: 'unreached', reason: errorMessage(error) };
    }
  }

  /** Another session than the one that was of no use. */
  #sessionAfter(before: McpSession | undefined): Promise<McpSession> {
    if (this.#session !== undefined && this.#session !== before) {
      return Promise.resolve(this.#session);
    }
    return this.#open().then((session) => {
      this.#relist();
      return session;
    });
  }

  #open(): Promise<McpSession> {
    return (this.#opening ??= this.#openNew().finally(() => (this.#opening = undefined)));
  }

  async #openNew(): Promise<McpSession> {
    const { spec, baseEnv, log } = this.#options;
    const texts = new LineLog((text) => log('debug', `MCP server ${spec.name} wrote`, { text }));
    const session: McpSession = new McpSession({
      spec,
      baseEnv,
      onText: (line) => {
        texts.add(line);
        this.#lastWords = line.text.trim().slice(0, maxWordsLength) || this.#lastWords;
      },
      onToolsChanged: () => this.#relist(),
      onEnd: (reason) => {
        texts.end();
        this.#lost(session, reason);
      },
    });
    const late = AbortSignal.timeout(spec.startTimeoutMs);
    await session.open(AbortSignal.any([late, this.#closing.signal]));
    this.#session = session;
    return session;
  }

  #lost(session: McpSession, reason: string): void {
    if (this.#session === session) this.#session = undefined;
    this.#farewell = this.#farewell.then(() => session.close());
    this.#warn('away; the next call connects again', reason);
  }

  async #list(session: McpSession, signal: AbortSignal): Promise<void> {
    const { spec, onTools } = this.#options;
    const { tools, warnings } = readTools(spec, await session.listTools(signal));
    this.#tools = tools;
    const said = warnings.join('; ');
    if (said !== '' && said !== this.#warned) this.#warn('not all tools can be offered', said);
    this.#warned = said;
    onTools();
  }

  /** Reads the list of tools again, soon; turns that have begun keep the one that they know. */
  #relist(): void {
    this.#isListOld = true;
    if (!this.#isRelisting) void this.#relistUntilQuiet();
  }

  async #relistUntilQuiet(): Promise<void> {
    const { signal } = this.#closing;
    this.#isRelisting = true;
    while (this.#isListOld && !signal.aborted) {
      await sleep(settleMs, undefined, { signal }).catch(() => undefined);
      this.#isListOld = false;
      const session = this.#session;
      if (session === undefined) break; // the next connection reads it
      await this.#list(session, signal).catch((error: unknown) =>
        this.#warn('the list of tools could not be read again', errorMessage(error)),
      );
    }
    this.#isRelisting = false;
  }

  #warn(message: string, reason: string): void {
    if (this.#closing.signal.aborted) return;
    this.#options.log('warn', `MCP server ${this.name}: ${message}`, { reason });
  }
}

function failed(name: string, reason: string): SkillmillError {
  return new SkillmillError('TOOL_FAILED', `${name} failed: ${reason}`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
