import type { Readable } from 'node:stream';
import type { Command, CommandResult, OutputStream } from './command.js';

/** Whom a sandbox serves; written on the container as labels, so that whoever comes next can remove what a dead worker left. */
export interface SandboxJob {
  readonly turnId: string;
  readonly sessionId: string;
  /** Another image than the executor's own; its sandboxes are not made ahead. */
  readonly image?: string | undefined;
}

/** Told when a sandbox of that name begins to serve a job, and (no job) when it is closed. Labels cannot say it: those of one
 *  that was made ahead cannot be changed. */
export type OnServing = (sandbox: string, job: SandboxJob | undefined) => void;

/** A file or folder to put into the workspace. */
export interface WorkspaceEntry {
  /** Relative to the workspace, `/` between parts, already checked to be inside it. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  /** Permission bits, e.g. 0o755. */
  readonly mode: number;
  /** A file's bytes. */
  readonly content?: Uint8Array;
  /** A symbolic link's target, as it is to be written. */
  readonly target?: string;
}

/** Entries that go into many sandboxes: an executor may keep them in its own form for as long as this object lives. */
export class EntryPack {
  readonly entries: readonly WorkspaceEntry[];

  constructor(entries: readonly WorkspaceEntry[]) {
    this.entries = entries;
  }
}

/** What is put, in order. */
export type EntryList = readonly (WorkspaceEntry | EntryPack)[];

/** The entries of a list, one after another. */
export function entriesOf(list: EntryList): readonly WorkspaceEntry[] {
  return list.flatMap((item) => (item instanceof EntryPack ? item.entries : [item]));
}

/** Who owns what is put: `keeper` entries are read-only for commands (skills), `command` entries are theirs. */
export type EntryOwner = 'keeper' | 'command';

/** A regular file that a command may have left. Links and special files are never listed. */
export interface WorkspaceFile {
  /** Relative to the workspace; any bytes that are valid UTF-8, newlines included. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Changes whenever the file's content or status changes (from inode, size and change time); compare for equality only. */
  readonly fingerprint: string;
}

/** What `list` finds. */
export interface FileListing {
  readonly files: readonly WorkspaceFile[];
  /** Entries left out, each with a reason a user understands (symbolic link, FIFO, name that is not UTF-8 …), at most 20. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** True when the listing stopped at its limit. */
  readonly truncated: boolean;
}

/** A file, folder or symbolic link as a snapshot keeps it. */
export interface TreeEntry {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  /** Permission bits. */
  readonly mode: number;
  /** Seconds since 1970 with nine digits behind the point. */
  readonly mtime: string;
  /** Of a file; 0 otherwise. */
  readonly sizeBytes: number;
  /** A symbolic link's target. */
  readonly target?: string;
}

/** An entry as it stands now; a file's fingerprint is that of `WorkspaceFile`, anything else has none. */
export type SeenEntry = TreeEntry & { readonly fingerprint: string };

/** All that lies below some folders. */
export interface Tree {
  /** Sorted by path. */
  readonly entries: readonly SeenEntry[];
  /** Entries that no snapshot can hold, each with a reason that a user understands, at most 20. */
  readonly skipped: FileListing['skipped'];
  /** True when there was more than can be looked at. */
  readonly truncated: boolean;
}

/** An entry to put back, with a file's bytes: as many as its size says. */
export interface RestoredEntry {
  readonly entry: TreeEntry;
  readonly content: AsyncIterable<Uint8Array>;
}

/** What goes with one command while it runs. */
export interface RunHooks {
  /** Ends the command and everything it started; `run` then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Output as it arrives, decoded (never cutting a character); may be called often and must not throw. */
  readonly onOutput: (stream: OutputStream, text: string) => void;
}

/** What the stages above may do with a live sandbox; only its owner may close it.
 *  The signal that it was opened with stays bound to it: when that aborts, `put`, `list` and `read`, waiting or under way, end at
 *  once and reject with the signal's reason, and so does every later one. What was half done is left as it is: close the sandbox.
 *  `run` minds the signal of its hooks instead, and only that.
 *  All operations of one sandbox run one after another. `read` holds the sandbox until its iteration ends: do not wait for
 *  another operation of the same sandbox within it. After SANDBOX_UNAVAILABLE with `details: { lost: true }` the sandbox is of no
 *  use any more, every further call throws it too, and what it held is gone: open another. */
export interface Sandbox {
  /** The workspace's absolute path as a command sees it (`/workspace` in a container). */
  readonly workspaceDir: string;
  /** A folder for the next command's own files, below runs/, that no other command of the session has. It need not be there:
   *  give it as the command's `makeDir`. */
  nextRunDir(): string;
  /** Puts entries into the workspace in order, making missing parent folders: `keeper` entries below skills/ (or
   *  metadata.json), `command` entries below work/, out/ and runs/. A link in the way is replaced, never followed; so is a
   *  file where a folder is to be; a folder that its owner has closed (chmod 000) is opened again.
   *  @throws the reason of the sandbox's signal; SkillmillError TOOL_FAILED when what commands did leaves no way (a folder where a
   *  file is to be, a name that is too long); LIMIT_EXCEEDED when the disk is full; SANDBOX_UNAVAILABLE when the sandbox itself
   *  failed; INTERNAL for an entry that is the other owner's */
  put(entries: EntryList, owner: EntryOwner): Promise<void>;
  /** Runs one command; when it returns nothing that the command started is alive.
   *  A working folder that is missing, or a `makeDir` that cannot be made, is exit code 126 with the reason on stderr.
   *  @throws the reason of the hooks' signal when aborted; SkillmillError SANDBOX_UNAVAILABLE when the sandbox itself failed,
   *  TOOL_INPUT_INVALID for what no shell takes (a line or variable of 128 KiB, NUL), TOOL_FAILED when long input finds no room */
  run(command: Command, hooks: RunHooks): Promise<CommandResult>;
  /** Lists regular files below the given folders of the workspace (missing ones are empty), sorted by path, at most `limit`.
   *  @throws the reason of the sandbox's signal; SkillmillError SANDBOX_UNAVAILABLE */
  list(folders: readonly string[], limit: number): Promise<FileListing>;
  /** Opens files for reading, in the order given; a file that is gone, unreadable or no longer regular yields `error` instead
   *  of content. Never follows a link.
   *  @throws the reason of the sandbox's signal, from the iteration and from a content being read; SkillmillError SANDBOX_UNAVAILABLE */
  read(paths: readonly string[]): AsyncIterable<ReadFile>;
  /** All below the given folders of the workspace, also what its owner has closed (chmod 000); the folders themselves are not
   *  among it, and links are told, never followed. @throws the signal's reason; SkillmillError SANDBOX_UNAVAILABLE */
  scan(folders: readonly string[]): Promise<Tree>;
  /** Like `read`, for files of a scan that was made since the last command: also those that their owner has closed. */
  fetch(files: readonly SeenEntry[], scanned: Tree): AsyncIterable<ReadFile>;
  /** Puts back what a snapshot has kept, as commands' own, with its modes and times, where nothing lies yet but folders; a
   *  folder comes before what is in it. Half of it may be there when this fails: close the sandbox.
   *  @throws the signal's reason; what a content fails with; SkillmillError LIMIT_EXCEEDED when the disk is full, TOOL_FAILED when
   *  something is in the way, SANDBOX_UNAVAILABLE */
  restore(entries: AsyncIterable<RestoredEntry>): Promise<void>;
}

/** A file as `read` gives it: its bytes, or why they cannot be had. */
export type ReadFile =
  | { readonly path: string; readonly content: Readable }
  | { readonly path: string; readonly error: string };

/** The owner's handle. */
export interface OpenSandbox extends Sandbox {
  /** Removes the sandbox and everything in it; idempotent; never throws for one that is already gone. */
  close(): Promise<void>;
}

/** What makes sandboxes: `docker` or `local`. One conformance suite (test/conformance) holds for both. */
export interface Executor {
  readonly name: 'docker' | 'local';
  /** Checks that sandboxes can be had. @throws SkillmillError SANDBOX_UNAVAILABLE with what to do */
  check(): Promise<void>;
  /** What its sandboxes are made from; another value when that has been replaced. @throws SkillmillError SANDBOX_UNAVAILABLE */
  imageId(): Promise<string>;
  /** Begins to make sandboxes ahead, so that opening one takes no time; does nothing where that gains nothing. */
  warmUp(): void;
  /** Makes a sandbox for one job, never shared. `signal` stays bound to the sandbox, see there; `opening`, which must not abort after
   *  it (the same when absent), ends the opening at once: what was made so far is removed, in the background if that takes longer.
   *  @throws the reason of `opening`; SkillmillError SANDBOX_UNAVAILABLE */
  open(job: SandboxJob, signal: AbortSignal, opening?: AbortSignal): Promise<OpenSandbox>;
  /** Removes what workers that are no longer alive left behind, what this one failed to remove, and (docker) every sandbox that
   *  is past its expiry, whosever it is; returns how many. What of ours is open, being opened or kept ready stays until its expiry. */
  sweep(isAlive: (owner: string) => Promise<boolean>): Promise<number>;
  /** Removes what was made ahead and makes nothing ahead any more; idempotent. What is open is its owner's to close. */
  close(): Promise<void>;
}

/** Limits on every sandbox; the host enforces them. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly processes: number;
  readonly diskBytes: number;
}
