import type { Duplex, Readable } from 'node:stream';
import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import { sandboxLost } from '../sandbox-failure.js';
import { withDeadline } from '../../async/deadline.js';
import { untilAbort } from '../../async/until-abort.js';
import { SCRATCH } from './container-spec.js';
import { Demuxer, type DemuxedPiece } from './demux.js';
import type { DockerEngine, EngineExec, ExecSpec } from './docker-engine.js';

const STDERR_LIMIT_BYTES = 8192;

/** Our own processes in a sandbox see neither the command's PATH nor its locale. */
export const HELPER_ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  HOME: SCRATCH,
} as const;

/** What one of our own processes in the sandbox did. */
export interface HelperResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** True when output was cut at its limit; the process may then still be running, and there is no exit code (it is 0). */
  readonly cut: boolean;
}

/** A short process of ours: a bash script that is a constant of this program, with values as its arguments only. */
export interface Helper {
  readonly script: string;
  readonly args?: readonly string[];
  readonly user: string;
  readonly stdin?: Readable;
  readonly timeoutMs: number;
  /** Ends it at once: its connection is cut. Without one only its time does. */
  readonly signal?: AbortSignal;
  readonly stdoutLimitBytes?: number;
}

/** Where an operation of a sandbox takes place, and what ends it at once. */
export interface OperationPlace {
  readonly engine: DockerEngine;
  readonly container: string;
  readonly signal: AbortSignal;
}

/** How a helper is started: `bash -p`, so that no variable of the image changes what it does. */
export function helperSpec(script: string, args: readonly string[], user: string): ExecSpec {
  const argv = ['/bin/bash', '-p', '-c', script, 'skillmill', ...args];
  return { argv, user, env: HELPER_ENV, workingDir: '/', stdin: false };
}

/** Starts a process whose connection is cut when the signal aborts, also while the engine is still starting it.
 *  @throws the signal's reason; SkillmillError SANDBOX_UNAVAILABLE with `lost` */
export async function startExec(
  engine: DockerEngine,
  container: string,
  spec: ExecSpec,
  signal: AbortSignal,
): Promise<EngineExec> {
  signal.throwIfAborted();
  const starting = engine.exec(container, spec).then((exec) => {
    const cut = () => exec.socket.destroy();
    signal.addEventListener('abort', cut, { once: true });
    exec.socket.once('close', () => signal.removeEventListener('abort', cut));
    if (signal.aborted) cut();
    return exec;
  });
  return await untilAbort(starting, signal);
}

/** The pieces of an exec's output, in the order they came; the next read waits until the last piece was used.
 *  @throws the reason of a signal that has cut the connection; SkillmillError SANDBOX_UNAVAILABLE with `lost` when it fails */
export async function* outputOf(
  socket: Duplex,
  signal?: AbortSignal,
): AsyncGenerator<DemuxedPiece> {
  const demuxer = new Demuxer();
  try {
    for await (const chunk of socket) {
      if (Buffer.isBuffer(chunk)) yield* demuxer.push(chunk);
    }
    demuxer.end();
  } catch (thrown) {
    signal?.throwIfAborted();
    throw sandboxLost(`the connection to it failed (${errorMessage(thrown)})`, thrown);
  }
}

/** Sends a stream to an exec's input and closes it. A process that ends before it has read all is no error here: its exit code tells. */
export async function feed(socket: Duplex, source: Readable): Promise<void> {
  for await (const chunk of source) {
    if (socket.destroyed || !Buffer.isBuffer(chunk)) break;
    if (!socket.write(chunk)) await drained(socket);
  }
  socket.end();
}

async function drained(socket: Duplex): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const event of ['drain', 'close', 'error']) socket.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'error']) socket.on(event, done);
  });
}

/** Runs one of our own processes to its end. @throws the reason of its signal; SkillmillError SANDBOX_UNAVAILABLE with `lost` when it cannot run or takes too long */
export async function runHelper(
  engine: DockerEngine,
  container: string,
  helper: Helper,
): Promise<HelperResult> {
  const spec = helperSpec(helper.script, helper.args ?? [], helper.user);
  const signal = helper.signal ?? new AbortController().signal;
  const stdin = helper.stdin !== undefined;
  const exec = await startExec(engine, container, { ...spec, stdin }, signal);
  const feeding = helper.stdin === undefined ? Promise.resolve() : feed(exec.socket, helper.stdin);
  const work = Promise.all([collect(exec, helper.stdoutLimitBytes ?? 65_536, signal), feeding]);
  try {
    const inTime = withDeadline(work, helper.timeoutMs, 'an operation in it');
    const [result] = await untilAbort(inTime, signal);
    return result;
  } catch (thrown) {
    signal.throwIfAborted();
    throw sandboxLost(errorMessage(thrown), thrown);
  } finally {
    exec.socket.destroy();
    helper.stdin?.destroy();
    work.catch(() => undefined); // after the deadline its failure is no news
  }
}

async function collect(
  exec: EngineExec,
  limitBytes: number,
  signal: AbortSignal,
): Promise<HelperResult> {
  const stdout: Buffer[] = [];
  let stdoutBytes = 0;
  let stderr = '';
  for await (const { stream, bytes } of outputOf(exec.socket, signal)) {
    if (stream === 'stderr') {
      if (stderr.length < STDERR_LIMIT_BYTES) stderr += bytes.toString('utf8');
      continue;
    }
    if (stdoutBytes + bytes.length > limitBytes) {
      return { exitCode: 0, stdout: Buffer.concat(stdout), stderr, cut: true };
    }
    stdout.push(bytes);
    stdoutBytes += bytes.length;
  }
  const exitCode = await exec.exitCode();
  return { exitCode, stdout: Buffer.concat(stdout), stderr, cut: false };
}
