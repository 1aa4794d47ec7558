import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { activate } from '../activate.js';
import { checkCommand } from '../check-command.js';
import { graceMs, waitForStop, type StopCause } from '../command-stop.js';
import type { Command, CommandResult, OutputStream } from '../command.js';
import { within } from '../../async/deadline.js';
import type { RunHooks } from '../executor.js';
import { makeDir } from '../make-dir.js';
import { OutputCap } from '../output-cap.js';
import { sandboxUnavailable } from '../sandbox-failure.js';
import { killMarked, killQuietly, signalQuietly } from './marked-processes.js';

/** Set for every process of a command, so that one which left its process group is found. */
const MARKER = 'SKILLMILL_RUN';
/** When everything was killed the output ends at once, unless a process that is not found holds it. */
const CLOSE_MS = 2000;

interface Running {
  readonly child: ChildProcess;
  readonly reading: Promise<unknown>;
  /** The variable that all its processes carry. */
  readonly marker: string;
}

/** Where a command runs, in absolute paths, and all of its environment. */
export interface ProcessPlace {
  readonly workspace: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Makes the folder $4 (if any) below $3, enters the folder $2, activates $5 (if any), then becomes the command ($1). */
const wrapper = `${makeDir}${activate}
if [[ -n $4 ]]; then make_dir "$3" "$4" || exit 126; fi
cd -- "$2" || exit 126
if [[ -n $5 ]]; then activate "$5"; fi
exec -a bash /bin/bash -c -- "$1"
`;

/** Runs one command as a process of this machine, in the folder and with exactly the given environment; when it returns, what
 *  the command started is dead. @throws the signal's reason when aborted; SkillmillError TOOL_INPUT_INVALID, SANDBOX_UNAVAILABLE */
export async function runProcess(
  command: Command,
  { workspace, folder, env }: ProcessPlace,
  hooks: RunHooks,
): Promise<CommandResult> {
  checkCommand(command);
  hooks.signal.throwIfAborted();
  const mark = randomUUID();
  const startedAt = performance.now();
  const { virtualEnvironment } = command;
  const environment = virtualEnvironment === undefined ? '' : join(workspace, virtualEnvironment);
  const values = [command.line, folder, workspace, command.makeDir ?? '', environment];
  const child = spawn('/bin/bash', ['-p', '-c', wrapper, 'bash', ...values], {
    cwd: '/',
    env: { ...env, [MARKER]: mark },
    detached: true,
    stdio: [command.stdin === '' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const stdout = new OutputCap(command.outputLimitBytes);
  const stderr = new OutputCap(command.outputLimitBytes);
  const reading = Promise.all([
    readInto(stdout, child.stdout, 'stdout', hooks),
    readInto(stderr, child.stderr, 'stderr', hooks),
  ]);
  const cause = await untilStop({ child, reading, marker: `${MARKER}=${mark}` }, command, hooks);
  await within(reading, CLOSE_MS);
  child.stdout?.destroy();
  child.stderr?.destroy();
  await reading;
  if (cause === 'aborted') hooks.signal.throwIfAborted();
  return {
    exitCode: cause === 'timedOut' ? 124 : exitCodeOf(child),
    timedOut: cause === 'timedOut',
    outOfMemory: false, // there is no memory limit here
    stdout: stdout.captured(),
    stderr: stderr.captured(),
    durationMs: performance.now() - startedAt,
    leftNothing: false, // looking costs nothing here
  };
}

/** Waits for the command's own end, its timeout or the abort, then kills all that is left. */
async function untilStop(running: Running, command: Command, hooks: RunHooks): Promise<StopCause> {
  const { child, reading, marker } = running;
  const exited: Promise<unknown> = once(child, 'exit').catch((thrown: unknown) => {
    throw sandboxUnavailable('Cannot start /bin/bash', thrown);
  });
  child.stdin?.on('error', () => undefined); // a command may end before it has read everything
  child.stdin?.end(command.stdin);
  // A listener that throws ends the command; output that has ended does not.
  const failed = reading.then(async () => await exited);
  try {
    const ended = Promise.race([exited, failed]);
    const cause = await waitForStop(ended, command.timeoutMs, hooks.signal);
    if (cause !== 'ended' && child.pid !== undefined) {
      signalQuietly(-child.pid, 'SIGTERM');
      await within(exited, graceMs[cause]);
    }
    return cause;
  } finally {
    if (child.pid !== undefined) killQuietly(-child.pid);
    await killMarked(marker);
    if (child.pid !== undefined) await exited;
  }
}

async function readInto(
  cap: OutputCap,
  source: Readable | null,
  stream: OutputStream,
  hooks: RunHooks,
): Promise<void> {
  const tell = (text: string) => {
    if (text !== '') hooks.onOutput(stream, text);
  };
  for await (const bytes of bytesOf(source)) tell(cap.push(bytes));
  tell(cap.end());
}

async function* bytesOf(source: Readable | null): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source ?? []) if (Buffer.isBuffer(chunk)) yield chunk;
  } catch {
    // destroyed by us: a process that was not found holds the pipe
  }
}

function exitCodeOf(child: ChildProcess): number {
  if (child.signalCode === null) return child.exitCode ?? 1;
  return 128 + constants.signals[child.signalCode];
}
