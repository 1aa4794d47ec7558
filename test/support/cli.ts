import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export const projectDir = join(import.meta.dirname, '..', '..');
const binary = join(projectDir, 'dist', 'skillmill.js');

export type Env = Readonly<Record<string, string>>;

export interface CliOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What every process of a test may know of this machine; nothing else, so that a developer's own settings change no test. */
function cleanEnvironment(env: Env): Env {
  const inherited = Object.entries(process.env).filter(([name]) =>
    ['PATH', 'HOME', 'TMPDIR', 'DOCKER_HOST'].includes(name),
  );
  return { ...Object.fromEntries(inherited.map(([name, value]) => [name, value ?? ''])), ...env };
}

export interface StartedCli {
  readonly child: ChildProcess;
  readonly outcome: Promise<CliOutcome>;
}

/** Starts the built command line in a process of its own. */
export function startCli(args: readonly string[], env: Env, input?: string): StartedCli {
  const child = spawn(process.execPath, [binary, ...args], {
    env: cleanEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: env['TEST_CWD'] ?? '/',
  });
  child.stdin.end(input ?? '');
  const collected = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const outcome = collected.then(([stdout, stderr]) => ({
    code: child.exitCode ?? 128,
    stdout,
    stderr,
  }));
  return { child, outcome };
}

/** Runs the built command line to its end. */
export function cli(args: readonly string[], env: Env, input?: string): Promise<CliOutcome> {
  return startCli(args, env, input).outcome;
}

export interface WorkerProcess {
  readonly child: ChildProcess;
  /** Everything it has said on stderr so far. */
  readonly log: () => string;
  /** Sends a signal and waits for the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `skillmill worker` and waits until it says that it is ready. */
export async function startWorkerProcess(env: Env): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [binary, 'worker'], {
    env: cleanEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      if (said.includes('is ready')) resolve();
    });
    child.once('exit', (code) =>
      reject(new Error(`the worker ended with ${String(code)}: ${said}`)),
    );
  });
  return {
    child,
    log: () => said,
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, 'exit');
        child.kill(signal);
        await exit;
      }
      return child.exitCode;
    },
  };
}
