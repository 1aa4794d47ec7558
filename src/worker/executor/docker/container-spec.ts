import { sandboxRoomBytes } from '../../../shared/config/config.js';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { SandboxLimits } from '../executor.js';
import { sandboxScripts } from './sandbox-scripts.js';
import { KEEPER } from './sandbox-users.js';
import { supervisorArguments, supervisorScript } from './supervisor-script.js';

const MIB = 1024 * 1024;
const OPEN_FILES = 4096;

/** The workspace as commands see it. */
export const WORKSPACE = '/workspace';
/** Where commands find a writable HOME when they are given none: the root is read-only. */
export const SCRATCH = '/tmp';

/** What decides how a sandbox's container is made. */
export interface SandboxShape {
  readonly image: string;
  readonly limits: SandboxLimits;
  /** The engine's own when absent. */
  readonly runtime?: string | undefined;
  /** The name of one of the engine's networks; `none` when absent. */
  readonly network?: string | undefined;
}

interface ScratchSizes {
  readonly tmpBytes: number;
  readonly shmBytes: number;
}

/** Checks the limits of sandboxes against each other. All files of a sandbox live in its memory, so memory must exceed
 *  them: otherwise a full disk kills whatever runs, and not only the command (seen 6 times of 6). @throws SkillmillError CONFIG_INVALID */
export function checkLimits(limits: SandboxLimits): void {
  if (limits.memoryBytes - limits.diskBytes >= sandboxRoomBytes) return;
  const needed = Math.ceil((limits.diskBytes + sandboxRoomBytes) / MIB);
  throw new SkillmillError(
    'CONFIG_INVALID',
    `A sandbox’s files live in its memory: with a disk of ${Math.floor(limits.diskBytes / MIB)} MiB its memory must be at least ${needed} MiB. Raise the memory or lower the disk size.`,
  );
}

/** Of the memory that the workspace leaves, at most 5/8 go to /tmp and /dev/shm; the rest is for processes. */
function scratchSizes(limits: SandboxLimits): ScratchSizes {
  const free = limits.memoryBytes - limits.diskBytes;
  return {
    tmpBytes: Math.floor(Math.min(limits.diskBytes / 4, free / 2)),
    shmBytes: Math.floor(Math.min(64 * MIB, free / 8)),
  };
}

/** The engine's options for a sandbox: what a container may do is decided here and nowhere else. `runs`: see `runsOf`. */
export function containerSpec(shape: SandboxShape, runs: string, labels: Record<string, string>) {
  const { limits, network = 'none', runtime } = shape;
  const { tmpBytes, shmBytes } = scratchSizes(limits);
  return {
    Image: shape.image,
    Entrypoint: [
      ...['/bin/bash', '-p', '-c', supervisorScript, 'supervisor'],
      ...supervisorArguments(runs, sandboxScripts),
    ],
    Cmd: [],
    // Root without what makes it root (see CapAdd); it owns nothing and may write nowhere.
    User: '0:0',
    // The channel; when the worker's end of it goes, the supervisor ends, and the container with it.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    WorkingDir: WORKSPACE,
    Hostname: 'sandbox',
    Env: [],
    Labels: labels,
    NetworkDisabled: network === 'none',
    StopSignal: 'SIGKILL',
    HostConfig: {
      // The supervisor is the init: bash reaps what commands leave behind, and nothing in the container can signal process 1.
      Init: false,
      AutoRemove: false,
      NetworkMode: network,
      ...(runtime !== undefined && { Runtime: runtime }),
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      // What the supervisor needs to become another user and to end what it started; commands have none of it.
      CapAdd: ['SETUID', 'SETGID', 'SETPCAP', 'KILL'],
      Privileged: false,
      SecurityOpt: ['no-new-privileges:true'],
      IpcMode: 'private',
      ShmSize: shmBytes,
      Memory: limits.memoryBytes,
      MemorySwap: limits.memoryBytes, // memory and swap together: no swap
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.processes,
      Ulimits: [
        { Name: 'nofile', Soft: OPEN_FILES, Hard: OPEN_FILES },
        { Name: 'fsize', Soft: limits.diskBytes, Hard: limits.diskBytes },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      // Otherwise all output is also written to the host's disk as the container's log.
      LogConfig: { Type: 'none', Config: {} },
      Tmpfs: {
        [WORKSPACE]: `rw,exec,nosuid,nodev,size=${limits.diskBytes},uid=${KEEPER},gid=${KEEPER},mode=0755`,
        [SCRATCH]: `rw,exec,nosuid,nodev,size=${tmpBytes},mode=1777`,
      },
    },
  };
}
