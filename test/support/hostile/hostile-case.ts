/** What a `skill_run` is given, but for the skill; names are the tool's. */
export interface HostileCall {
  readonly command: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly output_files?: readonly string[];
  readonly timeout?: number;
  readonly skill?: string;
}

/** What must come of a call; what is not given here must not have happened: no output, no file, no warning, no error. */
export interface Expected {
  /** 0 unless given; `fails` is any other. */
  readonly exit?: number | 'fails';
  readonly stdout?: string | RegExp;
  readonly stderr?: string | RegExp;
  readonly timedOut?: true;
  /** Each warning must match the pattern at its place. */
  readonly warnings?: readonly RegExp[];
  /** The returned files by name: the text that is shown, or the size of one that is not shown as text. */
  readonly files?: Readonly<Record<string, string | RegExp | number>>;
  /** The code of a call that is refused; a command that runs past its time has both a code and a result. */
  readonly error?: string;
}

/** A call, and what must come of it. */
export interface HostileStep {
  readonly call: HostileCall;
  readonly expected: Expected;
}

/** The parts of the list in docs/security.md, in order. */
export const groups = ['resources', 'processes', 'output', 'isolation', 'calls', 'files'] as const;

/** One attack. The suite puts a command that writes files before it, and one that looks for them behind it. */
export interface HostileCase {
  readonly id: string;
  readonly group: (typeof groups)[number];
  /** For docs/security.md: what it tries, and what happens. */
  readonly tries: string;
  readonly happens: string;
  readonly steps: readonly HostileStep[];
  /** The sandbox may be lost by it, which the next command then says. */
  readonly mayReplace?: true;
  /** It destroys its own job's files, as any command may. */
  readonly takesFiles?: true;
  /** What it leaves would show in the results of cases behind it, so that it has a job of its own. */
  readonly alone?: true;
}

/** How large the costly cases are, and how many of those that need a job of their own are run. */
export interface Scale {
  readonly floodBytes: number;
  readonly files: number;
  readonly bombSeconds: number;
  /** Those with a job of their own that are run; all when absent. */
  readonly alone?: readonly string[];
  /** How many of the jobs that several share are run; all when absent. */
  readonly sharedJobs?: number;
}

/** What `npm test` runs. */
export const small: Scale = {
  floodBytes: 64 * 1024 * 1024,
  files: 12_000,
  bombSeconds: 1,
  sharedJobs: 4,
  alone: [
    ...['fork-bomb', 'memory-many', 'disk-bomb', 'removes-all', 'many-files'],
    ...['link-out', 'fifo', 'mode-zero', 'names-bytes'],
  ],
};
/** What `npm run test:hostile` runs. */
export const full: Scale = { floodBytes: 1024 * 1024 * 1024, files: 100_000, bombSeconds: 5 };

/** A call and what comes of it. */
export function sh(
  command: string,
  expected: Expected = {},
  more: Omit<HostileCall, 'command'> = {},
): HostileStep {
  return { call: { command, ...more }, expected };
}

/** The same for a Python program. */
export function python(
  stdin: string,
  expected: Expected = {},
  more: Omit<HostileCall, 'command' | 'stdin'> = {},
): HostileStep {
  return sh('python3 -', expected, { stdin, ...more });
}

/** What a command that runs past its time comes to. */
export function timeout(expected: Expected = {}): Expected {
  return {
    exit: 124,
    timedOut: true,
    error: 'COMMAND_TIMEOUT',
    ...expected,
    warnings: [...(expected.warnings ?? []), /^killed: it ran past its/],
  };
}

/** The warning that the memory limit has ended a process. */
export const outOfMemory = /^out of memory: /;

/** A case of one step. */
export function attack(
  [id, tries, happens]: readonly [string, string, string],
  step: HostileStep | readonly HostileStep[],
  more: Pick<HostileCase, 'mayReplace' | 'takesFiles' | 'alone'> = {},
): Omit<HostileCase, 'group'> {
  return { id, tries, happens, steps: 'call' in step ? [step] : step, ...more };
}
