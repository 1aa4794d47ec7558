import { readdir, readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Command, CommandResult } from '../../src/worker/executor/command.js';
import type {
  Executor,
  OpenSandbox,
  RunHooks,
  Sandbox,
  WorkspaceEntry,
} from '../../src/worker/executor/executor.js';

/** What the conformance suite needs of an implementation. */
export interface ExecutorHarness {
  /** The executor under test; `owner` makes one for another worker of the same deployment. */
  readonly makeExecutor: (owner?: string) => Executor;
  /** What the executors of this harness have left: nothing, after each test. */
  readonly leftovers: () => Promise<string[]>;
}

export const job = { turnId: 'turn-1', sessionId: 'session-1' };

export const never = new AbortController().signal;

/** Opens a sandbox, hands it over, and closes it whatever happens. */
export async function withSandbox<T>(
  executor: Executor,
  use: (sandbox: OpenSandbox) => Promise<T>,
): Promise<T> {
  const sandbox = await executor.open(job, never);
  try {
    return await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

export const defaults = {
  cwd: 'work',
  env: {},
  stdin: '',
  timeoutMs: 60_000,
  outputLimitBytes: 16_384,
};

export const quiet: RunHooks = { signal: never, onOutput: () => undefined };

/** Runs a line with defaults for all else. */
export async function sh(
  sandbox: Sandbox,
  line: string,
  more: Partial<Command> = {},
  hooks: RunHooks = quiet,
): Promise<CommandResult> {
  return await sandbox.run({ ...defaults, line, ...more }, hooks);
}

/** The stdout of a line that must succeed. */
export async function out(
  sandbox: Sandbox,
  line: string,
  more: Partial<Command> = {},
): Promise<string> {
  const result = await sh(sandbox, line, more);
  if (result.exitCode !== 0) throw new Error(`${line}: ${JSON.stringify(result)}`);
  return result.stdout.text;
}

export function file(path: string, content: string | Uint8Array, mode = 0o644): WorkspaceEntry {
  return { path, kind: 'file', mode, content: Buffer.from(content) };
}

export const paths = (files: readonly { path: string }[]): string[] =>
  files.map((each) => each.path);

/** Everything that `read` gives, as bytes or the error. */
export async function readAll(
  sandbox: Sandbox,
  paths: readonly string[],
): Promise<{ path: string; bytes?: Buffer; error?: string }[]> {
  const all = [];
  for await (const item of sandbox.read(paths)) {
    if ('error' in item) all.push({ path: item.path, error: item.error });
    else all.push({ path: item.path, bytes: await buffer(item.content) });
  }
  return all;
}

/** Command lines of living processes of this machine (containers' included) that hold the text. */
export async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.map((line) => line.replaceAll('\0', ' ')).filter((line) => line.includes(text));
}

/** A signal that aborts as soon as `onOutput` has seen the text: a barrier in place of a sleep. */
export function abortOnOutput(text: string, reason: Error): RunHooks {
  const controller = new AbortController();
  const hooks = onceOutput(text, () => controller.abort(reason));
  return { ...hooks, signal: controller.signal };
}

/** Calls `act` once, as soon as the command has printed the text. */
export function onceOutput(text: string, act: () => void): RunHooks {
  let seen = '';
  let done = false;
  return {
    signal: never,
    onOutput: (_stream, piece) => {
      seen += piece;
      if (done || !seen.includes(text)) return;
      done = true;
      act();
    },
  };
}
