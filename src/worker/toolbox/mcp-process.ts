import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { within } from '../async/deadline.js';
import { killMarked, killQuietly } from '../executor/local/marked-processes.js';
import { LineCutter, type Line } from './line-cutter.js';

/** A message longer than this ends the server: it would have to be held whole. */
const maxLineBytes = 10 * 1024 * 1024;
const maxStderrLineBytes = 2000;
/** How long a server may take to end by itself when its stdin is closed, and then when it is told to. */
const leaveMs = 1500;
const terminateMs = 1000;
/** Output of a process that has ended is read for this long: a process that it left may hold the pipe. */
const lastWordsMs = 200;
const readsNoMore = 'it reads no more';

/** Set for every process of a server, so that one which left its process group is found. */
const marker = 'SKILLMILL_MCP_SERVER';

export interface ServerProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  /** All of its environment, but for the marker. */
  readonly env: Readonly<Record<string, string>>;
  readonly onLine: (text: string) => void;
  readonly onStderr: (line: Line) => void;
  /** Called once, when the process has ended or nothing can be read from it any more. */
  readonly onEnd: (reason: string) => void;
}

/** A server as a process of this machine: running ──stop(), or its own end──▶ ended. Leads a process group of its own, so
 *  that Ctrl-C on the worker's terminal does not end it under running turns. */
export interface ServerProcess {
  /** Sends one line; may never settle when the server reads nothing. @throws NotSentError when it surely did not get it whole */
  write(text: string): Promise<void>;
  /** Ends it; idempotent. When it resolves, neither the process nor what it started is there any more. */
  stop(reason: string): Promise<void>;
}

/** The end of a line did not reach the server: it cannot have begun what the line asks for. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
  /** Why that is; known in a moment. */
  readonly why: Promise<string>;

  constructor(why: Promise<string>) {
    super(readsNoMore);
    this.why = why;
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a server. @throws Error that says why it cannot be started */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { command, args, cwd, env } = options;
  if (cwd !== undefined && !(await isFolder(cwd))) throw new Error(`there is no folder ${cwd}`);
  const mark = randomUUID();
  try {
    const child = spawn(command, args, {
      cwd,
      env: { ...env, [marker]: mark },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    return supervise(child, `${marker}=${mark}`, options);
  } catch (error) {
    const reason = `the command ${command} cannot be started: ${startFault(error)}`;
    throw new Error(reason, { cause: error });
  }
}

function supervise(child: Child, mark: string, options: ServerProcessOptions): ServerProcess {
  const exited = new Promise<true>((resolve) => child.once('exit', () => resolve(true)));
  const closed = new Promise<true>((resolve) => child.once('close', () => resolve(true)));
  const group = leadGroup(child);
  let ending: Promise<void> | undefined;
  /** Tells of the end, lets the process leave as far as it does, and kills what is left. */
  const end = async (reason: string) => {
    options.onEnd(reason);
    child.stdin.end();
    if ((await within(exited, leaveMs)) === undefined) {
      group.signal('SIGTERM');
      await within(exited, terminateMs);
    }
    group.kill();
    await killMarked(mark);
    await within(exited, terminateMs);
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const stop = (reason: string) => (ending ??= Promise.resolve(reason).then(end));

  /** Its exit code says more than a pipe that broke, if there is one in a moment; and its last words are read first. */
  const whyEnded = async (reason: string) => {
    await within(exited, lastWordsMs);
    const { exitCode, signalCode } = child;
    if (signalCode !== null) return `it ended with signal ${signalCode}`;
    return exitCode === null ? reason : `it ended with exit code ${exitCode}`;
  };
  const stopSoon = async (seen: string) => {
    const reason = await whyEnded(seen);
    await within(closed, lastWordsMs);
    await stop(reason);
  };
  child.on('error', () => undefined); // a signal that could not be sent
  child.once('exit', () => void stopSoon('it ended'));
  child.stdin.on('error', () => void stopSoon(readsNoMore));
  child.stdout.once('end', () => void stopSoon('it closed its stdout'));
  readLines(child.stdout, maxLineBytes, (line) => {
    if (ending !== undefined) return;
    if (line.isCut) void stop(`it wrote a line of more than ${maxLineBytes} bytes`);
    else options.onLine(line.text);
  });
  readLines(child.stderr, maxStderrLineBytes, options.onStderr);
  return {
    async write(text) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (ending !== undefined || hasEnded) throw new NotSentError(whyEnded(readsNoMore));
      await new Promise<void>((resolve, reject) => {
        child.stdin.write(`${text}\n`, (error) => {
          if (error) reject(new NotSentError(whyEnded(readsNoMore)));
          else resolve();
        });
      });
    },
    stop,
  };
}

function readLines(stream: Readable, limitBytes: number, take: (line: Line) => void): void {
  const cutter = new LineCutter(limitBytes);
  stream.on('error', () => undefined); // destroyed by us
  stream.on('data', (chunk: Buffer) => {
    for (const line of cutter.push(chunk)) take(line);
  });
}

/** Process groups of running servers. When the worker's process ends without having stopped them, they are killed with it. */
const groups = new Set<number>();

function killGroups(): void {
  for (const group of groups) killQuietly(-group);
}

/** The process group that a child leads. */
function leadGroup({ pid }: Child): { signal(signal: NodeJS.Signals): void; kill(): void } {
  if (pid === undefined) throw new Error('it has no process id');
  if (groups.size === 0) process.once('exit', killGroups);
  groups.add(pid);
  return {
    signal(signal) {
      try {
        process.kill(-pid, signal);
      } catch {
        // gone already
      }
    },
    kill() {
      killQuietly(-pid);
      groups.delete(pid);
      if (groups.size === 0) process.off('exit', killGroups);
    },
  };
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

function startFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such program';
  if (code === 'EACCES') return 'it may not be executed';
  return error instanceof Error ? error.message : 'unknown error';
}
