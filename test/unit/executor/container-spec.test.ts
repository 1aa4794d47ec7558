import { describe, expect, it } from 'vitest';
import { checkLimits, containerSpec } from '../../../src/worker/executor/docker/container-spec.js';

const MIB = 1024 * 1024;
const limits = { memoryBytes: 1024 * MIB, diskBytes: 512 * MIB, cpus: 1.5, processes: 256 };
const shape = { image: 'img:1', limits };

describe('the container spec', () => {
  it('is exactly this: whatever changes here changes what a command may do', () => {
    const { Entrypoint, ...spec } = containerSpec(shape, 'runs/run_t', { a: 'b' });
    expect(Entrypoint.slice(0, 3)).toEqual(['/bin/bash', '-p', '-c']);
    expect(Entrypoint.slice(5).filter((_, at) => at % 2 === 1)).toEqual([
      'command',
      'put',
      'list',
      'read',
      'scan',
      'fetch',
      'restore',
      'shell',
    ]);
    expect(spec).toEqual({
      Image: 'img:1',
      Cmd: [],
      User: '0:0',
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      WorkingDir: '/workspace',
      Hostname: 'sandbox',
      Env: [],
      Labels: { a: 'b' },
      NetworkDisabled: true,
      StopSignal: 'SIGKILL',
      HostConfig: {
        Init: false,
        AutoRemove: false,
        NetworkMode: 'none',
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        CapAdd: ['SETUID', 'SETGID', 'SETPCAP', 'KILL'],
        Privileged: false,
        SecurityOpt: ['no-new-privileges:true'],
        IpcMode: 'private',
        ShmSize: 64 * MIB,
        Memory: 1024 * MIB,
        MemorySwap: 1024 * MIB,
        NanoCpus: 1_500_000_000,
        PidsLimit: 256,
        Ulimits: [
          { Name: 'nofile', Soft: 4096, Hard: 4096 },
          { Name: 'fsize', Soft: 512 * MIB, Hard: 512 * MIB },
          { Name: 'core', Soft: 0, Hard: 0 },
        ],
        LogConfig: { Type: 'none', Config: {} },
        Tmpfs: {
          '/workspace': `rw,exec,nosuid,nodev,size=${512 * MIB},uid=1001,gid=1001,mode=0755`,
          '/tmp': `rw,exec,nosuid,nodev,size=${128 * MIB},mode=1777`,
        },
      },
    });
  });

  it.each([
    [1024, 512],
    [256, 128],
    [64, 8],
    [64, 16],
    [4096, 64],
    [8192, 8144],
  ])(
    'leaves memory for processes when all files are full: %i MiB with a disk of %i',
    (memory, disk) => {
      const made = { ...limits, memoryBytes: memory * MIB, diskBytes: disk * MIB };
      checkLimits(made);
      const { HostConfig } = containerSpec({ ...shape, limits: made }, 'runs/run_t', {});
      const sizes = Object.values(HostConfig.Tmpfs).map((options) =>
        Number(/size=(\d+)/.exec(options)?.[1]),
      );
      const files = sizes.reduce((sum, size) => sum + size, HostConfig.ShmSize);
      expect((HostConfig.Memory - files) / MIB).toBeGreaterThanOrEqual(18);
    },
  );

  it.each([
    [64, 64],
    [64, 17],
    [512, 512],
  ])('refuses %i MiB of memory with a disk of %i', (memory, disk) => {
    const made = { ...limits, memoryBytes: memory * MIB, diskBytes: disk * MIB };
    expect(() => checkLimits(made)).toThrow(/memory must be at least \d+ MiB/);
  });
});
