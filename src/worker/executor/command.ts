/** One command to run in a sandbox. All paths are relative to the workspace's root, with `/` between their parts. */
export interface Command {
  /** A shell line for `bash -c` (never a login shell: Debian's profile would reset the image's PATH). */
  readonly line: string;
  /** Working folder, relative to the workspace, already checked to be inside it. */
  readonly cwd: string;
  /** A folder below work/, out/ or runs/ to make before the command if it is missing (mode 0755), with those above it: links and
   *  files in the way are replaced, folders that commands closed are opened again. Where it cannot be made the command does
   *  not run: exit code 126 with the reason on stderr. */
  readonly makeDir?: string | undefined;
  /** A Python environment: when its bin/ is there, PATH begins with it and VIRTUAL_ENV names it unless `env` does. */
  readonly virtualEnvironment?: string | undefined;
  /** Added to the workspace's own variables; what is named here wins. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes for standard input; it is closed after them (at once when empty). */
  readonly stdin: string;
  readonly timeoutMs: number;
  /** How many bytes of stdout, and as many of stderr, are kept (head and tail). */
  readonly outputLimitBytes: number;
}

/** Where a command prints. */
export type OutputStream = 'stdout' | 'stderr';

/** What of one output stream was kept. */
export interface CapturedOutput {
  /** Valid Unicode; cut between characters only, head and tail kept. */
  readonly text: string;
  readonly totalBytes: number;
  /** Bytes left out between head and tail; 0 when the text is whole. */
  readonly droppedBytes: number;
}

/** How a command ended: one shape for success and failure, since a non-zero exit is data, not an exception. */
export interface CommandResult {
  /** The command's own code; 128 + signal when it was killed; 124 when it ran past its time. */
  readonly exitCode: number;
  readonly timedOut: boolean;
  /** True when the memory limit ended it (or something it started). */
  readonly outOfMemory: boolean;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  readonly durationMs: number;
  /** True when out/ is surely empty after it. */
  readonly leftNothing: boolean;
}
