import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { LogFields, LogLevel } from '../../src/shared/logging/logger.js';
import { defineMcpServer } from '../../src/worker/toolbox/define-mcp-server.js';
import type { McpServerDefinition } from '../../src/worker/toolbox/define-mcp-server.js';
import type { ToolboxTool } from '../../src/worker/toolbox/define-tool.js';
import { checkToolbox } from '../../src/worker/toolbox/load-toolbox.js';
import { openToolbox, type Toolbox } from '../../src/worker/toolbox/toolbox.js';

export const testServerPath = join(import.meta.dirname, 'mcp-test-server.js');

/** The test server as a process. */
export function stdioServer(mode = 'normal', more: object = {}): McpServerDefinition {
  return {
    name: 'test',
    command: process.execPath,
    args: [testServerPath],
    env: { TEST_MCP_MODE: mode },
    ...more,
  };
}

export interface OpenBox {
  readonly toolbox: Toolbox;
  readonly lines: { level: LogLevel; message: string; fields: LogFields }[];
  /** All that was logged, as one text. */
  readonly logged: () => string;
  /** Calls a tool as the loop does. */
  readonly call: (name: string, args?: unknown, signal?: AbortSignal) => Promise<unknown>;
}

/** A toolbox of these servers, closed when the test is over. */
export async function openBox(
  servers: readonly McpServerDefinition[],
  tools: readonly ToolboxTool[] = [],
): Promise<OpenBox> {
  const lines: OpenBox['lines'] = [];
  const loaded = checkToolbox('box.js', tools, servers.map(defineMcpServer));
  const toolbox = await openToolbox(loaded, {
    log: (level, message, fields = {}) => void lines.push({ level, message, fields }),
    redact: { text: (text) => text },
    lookUp: (name) => process.env[name],
  });
  onTestFinished(() => toolbox.close());
  return {
    toolbox,
    lines,
    logged: () => lines.map((line) => JSON.stringify(line)).join('\n'),
    call(name, args = {}, signal = new AbortController().signal) {
      const tool = toolbox.current().get(name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const turn = { turnId: 'turn_a_1', sessionId: 's', tenant: 'default' };
      return tool.run(args, { ...turn, callKey: 'turn_a_1_call', signal });
    },
  };
}

/** Is a process of this number there, with a thread that is no zombie? (Files are open until the last one ends.) */
export async function isAlive(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => '')),
  );
  return states.some((state) => state !== '' && !/\) Z /.test(state));
}

/** Processes whose environment, as it was at their start, holds this entry. */
export async function processesWith(entry: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const held = await Promise.all(
    pids.map(async (pid) => {
      const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environ.split('\0').includes(entry);
    }),
  );
  return pids.filter((_, index) => held[index]);
}
