import type { Line } from './line-cutter.js';
import { startServerProcess, type ServerProcess } from './mcp-process.js';
import type { StdioSpec } from './mcp-spec.js';

/** A server that writes so many lines on end that are no messages does not speak MCP. */
const maxStrayLines = 1000;
const maxShownBytes = 200;

export interface StdioTransportOptions<Message> {
  readonly spec: StdioSpec;
  /** What every server's process may know of the worker's environment. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** The message that a line holds, if it holds one. */
  readonly parse: (text: string) => Message | undefined;
  /** A line of the process that is no message, on its stdout or stderr. */
  readonly onText: (line: Line) => void;
  /** Why the process ended by itself, or had to; told just before `onclose`. */
  readonly onEnd: (reason: string) => void;
}

/** Messages as lines on the stdin and stdout of a server's process; the shape is what the MCP client expects of a transport. */
export class StdioTransport<Message> {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: Message) => void) | undefined;
  readonly #options: StdioTransportOptions<Message>;
  #process: ServerProcess | undefined;
  #strayLines = 0;
  #isLeft = false;

  constructor(options: StdioTransportOptions<Message>) {
    this.#options = options;
  }

  /** @throws Error that says why the process cannot be started */
  async start(): Promise<void> {
    const { spec, baseEnv, onText, onEnd } = this.#options;
    this.#process = await startServerProcess({
      command: spec.command,
      args: spec.args,
      cwd: spec.cwd,
      env: { ...baseEnv, ...spec.env },
      onLine: (text) => this.#take(text),
      onStderr: onText,
      onEnd: (reason) => {
        if (!this.#isLeft) onEnd(reason);
        this.onclose?.();
      },
    });
  }

  /** @throws NotSentError */
  async send(message: Message): Promise<void> {
    await this.#process?.write(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.#isLeft = true;
    await this.#process?.stop('it was closed');
  }

  #take(text: string): void {
    if (text.trim() === '') return;
    const message = text.startsWith('{') ? this.#options.parse(text) : undefined;
    if (message === undefined) {
      this.#stray(text);
    } else {
      this.#strayLines = 0;
      this.onmessage?.(message);
    }
  }

  #stray(text: string): void {
    this.#strayLines += 1;
    const isCut = text.length > maxShownBytes;
    this.#options.onText({ text: text.slice(0, maxShownBytes), isCut });
    if (this.#strayLines > maxStrayLines) {
      void this.#process?.stop('its stdout holds something else than MCP messages');
    }
  }
}
