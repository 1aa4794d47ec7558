import { readdir, readFile } from 'node:fs/promises';
import { z } from 'zod';
import { docker } from '../docker.js';

/** The client's types leave out what `size` brings. */
const withSize = z.object({ SizeRw: z.number().optional() });

/** What the host holds of one session's sandbox while it lives. */
export interface HostLook {
  /** Its containers; one, unless it was lost. */
  readonly containers: readonly string[];
  /** How the engine describes each, for whoever has to find out why there is more than one. */
  readonly described: readonly string[];
  /** What the engine keeps on the host's disk for them: logs, written layers, volumes and other mounts. */
  readonly traces: readonly string[];
}

/** Looks at a session's containers from outside; another run of this suite on the same engine has the same sessions. */
export async function lookAtHost(deployment: string, sessionId: string): Promise<HostLook> {
  const label = [`skillmill.deployment=${deployment}`, `skillmill.session=${sessionId}`];
  const filters = JSON.stringify({ label });
  const found = await docker.listContainers({ all: true, size: true, filters });
  const written = found.flatMap((container) => {
    const bytes = withSize.parse(container).SizeRw ?? 0;
    return bytes === 0 ? [] : [`${bytes} bytes written to its root`];
  });
  const traces = await Promise.all(found.map((container) => tracesOf(container.Id)));
  return {
    containers: found.map((container) => container.Id),
    described: found.map(
      ({ Id, Labels, State, Status }) => `${Id} ${State} (${Status}) ${JSON.stringify(Labels)}`,
    ),
    traces: [...written, ...traces.flat()],
  };
}

async function tracesOf(id: string): Promise<string[]> {
  const container = await docker.getContainer(id).inspect();
  return [
    ...(container.LogPath === '' ? [] : [`log ${container.LogPath}`]),
    ...container.Mounts.filter((mount) => mount.Type !== 'tmpfs').map(
      (mount) => `mount ${mount.Destination}`,
    ),
  ];
}

/** Command lines of this machine's processes that run in one of these containers. */
export async function processesIn(containers: readonly string[]): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
      if (!containers.some((id) => groups.includes(id))) return undefined;
      return await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
    }),
  );
  return lines.filter((line) => line !== undefined);
}

/** Memory of a process in bytes, as the kernel counts it. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
