import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { Command, CommandResult } from '../command.js';
import { waitForStop, type StopCause } from '../command-stop.js';
import { within } from '../../async/deadline.js';
import type { RunHooks } from '../executor.js';
import { makeDir } from '../make-dir.js';
import { OutputCap } from '../output-cap.js';
import { RUNNER, SCRATCH, WORKSPACE } from './container-spec.js';
import type { DockerEngine, EngineExec } from './docker-engine.js';
import { feed, outputOf, runHelper } from './exec-helper.js';
import { reap } from './reap.js';

/** How long a killed command's output may stay open before the whole container is removed. */
const KILL_MS = 5000;
/** A kill may come before the engine has started the process: it is repeated as often. */
const KILL_AGAIN_MS = 500;
/** What fits into the pipe is taken by the engine at once. More would be lost, and output with it, when a command ends without
 *  reading it (the engine then resets the connection): it goes through a file. */
const PIPE_STDIN_BYTES = 32 * 1024;
const STDIN_FILE_MS = 60_000;

/** Makes the folder $4 (if any), runs the line ($1) in the folder $2 with the file $3 (if any) as its input, then kills whatever it left running, since a
 *  background process that holds the output open would keep the exec from ending. Only the command is offered to the
 *  out-of-memory killer first (1000), this shell later (500), the main process last. The shell's own messages go nowhere. */
const wrapper = `${makeDir}
exec 3>&2 2>/dev/null
echo 500 > /proc/self/oom_score_adj
(
  exec 2>&3 3>&-
  echo 1000 > /proc/self/oom_score_adj
  if [[ -n $4 ]]; then make_dir ${WORKSPACE} "$4" || exit 126; fi
  cd -- "$2" || exit 126
  if [[ -n $3 ]]; then exec < "$3"; rm -f -- "$3"; fi
  exec -a bash /bin/bash -c -- "$1"
)
code=$?
builtin kill -KILL -1
exit "$code"
`;

/** A command's end, and whether its container has to go because not everything could be killed. */
export interface ExecOutcome {
  readonly result: CommandResult;
  readonly aborted: boolean;
  readonly lost: boolean;
}

/** Runs one command in a container to its end, its timeout or the abort of its signal. @throws SkillmillError
 *  SANDBOX_UNAVAILABLE with `lost` when the container failed */
export async function execCommand(
  engine: DockerEngine,
  container: string,
  command: Command,
  hooks: RunHooks,
): Promise<ExecOutcome> {
  const stdin = Buffer.from(command.stdin, 'utf8');
  const byFile = stdin.length > PIPE_STDIN_BYTES;
  const stdinFile = byFile ? await writeStdinFile(engine, container, stdin, hooks.signal) : '';
  const startedAt = performance.now();
  const folder = command.cwd === '' ? WORKSPACE : `${WORKSPACE}/${command.cwd}`;
  const newDir = command.makeDir ?? '';
  const exec = await engine.exec(container, {
    argv: ['/bin/bash', '-p', '-c', wrapper, 'bash', command.line, folder, stdinFile, newDir],
    user: RUNNER,
    env: { HOME: SCRATCH, ...command.env },
    workingDir: '/',
    stdin: !byFile && stdin.length > 0,
  });
  const output = new CommandOutput(command, hooks);
  try {
    const ended = output.readAll(exec);
    if (!byFile && stdin.length > 0) void feed(exec.socket, Readable.from([stdin]));
    const cause = await waitForStop(ended, command.timeoutMs, hooks.signal);
    const lost = cause !== 'ended' && !(await killAll(engine, container, ended));
    const exitCode = cause === 'ended' ? await exec.exitCode() : 124;
    const result = output.result(exitCode, cause, performance.now() - startedAt);
    return { result, aborted: cause === 'aborted', lost };
  } finally {
    exec.socket.destroy();
  }
}

/** The output of one command as it is kept and told. */
class CommandOutput {
  readonly #stdout: OutputCap;
  readonly #stderr: OutputCap;
  readonly #hooks: RunHooks;
  #closed = false;

  constructor(command: Command, hooks: RunHooks) {
    this.#stdout = new OutputCap(command.outputLimitBytes);
    this.#stderr = new OutputCap(command.outputLimitBytes);
    this.#hooks = hooks;
  }

  async readAll(exec: EngineExec): Promise<void> {
    for await (const { stream, bytes } of outputOf(exec.socket)) {
      if (this.#closed) return;
      const cap = stream === 'stdout' ? this.#stdout : this.#stderr;
      this.#tell(stream, cap.push(bytes));
    }
  }

  result(exitCode: number, cause: StopCause, durationMs: number): CommandResult {
    this.#closed = true;
    this.#tell('stdout', this.#stdout.end());
    this.#tell('stderr', this.#stderr.end());
    return {
      exitCode,
      timedOut: cause === 'timedOut',
      outOfMemory: false, // the reaper knows
      stdout: this.#stdout.captured(),
      stderr: this.#stderr.captured(),
      durationMs,
    };
  }

  #tell(stream: 'stdout' | 'stderr', text: string): void {
    if (text !== '') this.#hooks.onOutput(stream, text);
  }
}

/** Kills everything of the commands' user until the command's output ends; false when it does not within KILL_MS. Each kill is
 *  waited for, since two at a time would kill each other. */
async function killAll(
  engine: DockerEngine,
  container: string,
  ended: Promise<void>,
): Promise<boolean> {
  const over = ended.then(
    () => true,
    () => false, // the connection failed: nobody knows what still runs
  );
  const deadline = performance.now() + KILL_MS;
  while (performance.now() < deadline) {
    const killed = reap(engine, container).catch(() => undefined);
    await within(killed, deadline - performance.now());
    const left = deadline - performance.now();
    const outcome = await within(over, Math.min(KILL_AGAIN_MS, left));
    if (outcome !== undefined) return outcome && left > 0;
  }
  return false;
}

async function writeStdinFile(
  engine: DockerEngine,
  container: string,
  stdin: Buffer,
  signal: AbortSignal,
): Promise<string> {
  const file = `${SCRATCH}/.stdin-${randomUUID()}`;
  const result = await runHelper(engine, container, {
    script: 'umask 077; cat > "$1" || { rm -f -- "$1"; exit 1; }',
    args: [file],
    user: RUNNER,
    stdin: Readable.from([stdin]),
    timeoutMs: STDIN_FILE_MS,
    signal,
  });
  if (result.exitCode === 0) return file;
  throw new SkillmillError(
    'TOOL_FAILED',
    `The sandbox has no room in ${SCRATCH} for ${stdin.length} bytes of standard input: delete files there, or pass less.`,
    { details: { stderr: result.stderr } },
  );
}
