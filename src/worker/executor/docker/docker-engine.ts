import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import { SkillmillError, errorMessage } from '../../../shared/errors/skillmill-error.js';
import { withDeadline } from '../../async/deadline.js';
import { sandboxLost, sandboxUnavailable } from '../sandbox-failure.js';
import type { containerSpec } from './container-spec.js';
import { parseDockerHost, type EngineAddress } from './docker-host.js';

/** Longer than a loaded engine needs for one call (create, start and remove take below 1 s each; seen 8 s under a storm of 50). */
const CALL_MS = 60_000;
/** How long the engine may say "still running" after an exec's output has ended. */
const EXIT_CODE_MS = 10_000;
const EXIT_CODE_POLL_MS = 5;

/** A process to start in a running container. */
export interface ExecSpec {
  readonly argv: readonly string[];
  /** `uid:gid` */
  readonly user: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly workingDir?: string;
  /** Without it standard input is /dev/null, which programs treat otherwise than an empty pipe (ripgrep searches files then). */
  readonly stdin: boolean;
}

/** A process that was started: its multiplexed output (and input), and its exit code once the output has ended. */
export interface EngineExec {
  readonly socket: Duplex;
  exitCode(): Promise<number>;
}

/** What the executor needs of a Docker engine. Everything throws SkillmillError SANDBOX_UNAVAILABLE. */
export class DockerEngine {
  readonly #docker: Docker;
  readonly #address: EngineAddress;

  /** @throws SkillmillError CONFIG_INVALID when the address is not understood */
  constructor(dockerHost: string | undefined) {
    this.#address = parseDockerHost(dockerHost);
    this.#docker = connect(this.#address);
  }

  /** Asks the engine for a sign of life within the given milliseconds. */
  async ping(timeoutMs: number): Promise<void> {
    try {
      await withDeadline(this.#docker.ping(), timeoutMs, 'the answer');
    } catch (thrown) {
      throw new SkillmillError(
        'SANDBOX_UNAVAILABLE',
        `No Docker engine answers at ${this.#address.label} (${errorMessage(thrown)}). Start it, or set DOCKER_HOST to where one listens; SKILLMILL_EXECUTOR=local runs commands without one, and without isolation.`,
        { cause: thrown },
      );
    }
  }

  /** The id of this image; undefined when the engine does not have it. */
  async imageId(image: string, timeoutMs = CALL_MS): Promise<string | undefined> {
    try {
      const inspected = this.#docker.getImage(image).inspect();
      return (await withDeadline(inspected, timeoutMs, 'the answer')).Id;
    } catch (thrown) {
      if (statusOf(thrown) === 404) return undefined;
      throw sandboxUnavailable(`Cannot look for the image ${image}`, thrown);
    }
  }

  /** Makes and starts a container of that name; one that was made but did not start is the caller's to remove. */
  async startContainer(name: string, spec: ReturnType<typeof containerSpec>): Promise<void> {
    const made = this.#docker.createContainer({ name, ...spec });
    try {
      await withDeadline(made, CALL_MS, 'making it');
      const started = this.#docker.getContainer(name).start();
      await withDeadline(started, CALL_MS, 'starting it');
    } catch (thrown) {
      // One that is made after we gave up is nobody's: the caller has removed its name by then.
      made.then(() => this.removeContainer(name)).catch(() => undefined);
      throw sandboxUnavailable('Cannot start a sandbox', thrown);
    }
  }

  /** Removes a container by force, with its anonymous volumes; one that is gone or going already counts as removed. */
  async removeContainer(idOrName: string): Promise<void> {
    try {
      const removed = this.#docker.getContainer(idOrName).remove({ force: true, v: true });
      await withDeadline(removed, CALL_MS, 'removing it');
    } catch (thrown) {
      const status = statusOf(thrown);
      const going = status === 409 && errorMessage(thrown).includes('already in progress');
      if (status === 404 || going) return;
      throw sandboxUnavailable(`Cannot remove the sandbox ${idOrName}`, thrown);
    }
  }

  /** All containers, running or not, with this label, whatever its value. */
  async containersWith(label: string): Promise<readonly LabelledContainer[]> {
    try {
      const filters = { label: [label] };
      const listed = this.#docker.listContainers({ all: true, filters });
      const containers = await withDeadline(listed, CALL_MS, 'listing them');
      return containers.map(({ Id, Names, Labels }) => ({
        id: Id,
        name: Names[0]?.replace(/^\//, '') ?? '',
        labels: Labels,
      }));
    } catch (thrown) {
      throw sandboxUnavailable('Cannot list the sandboxes', thrown);
    }
  }

  /** Starts a process in a container. @throws SkillmillError SANDBOX_UNAVAILABLE with `lost`, since a container that takes none is of no use */
  async exec(idOrName: string, spec: ExecSpec): Promise<EngineExec> {
    try {
      const created = this.#docker.getContainer(idOrName).exec({
        Cmd: [...spec.argv],
        User: spec.user,
        Env: Object.entries(spec.env ?? {}).map(([name, value]) => `${name}=${value}`),
        AttachStdin: spec.stdin,
        AttachStdout: true,
        AttachStderr: true,
        Tty: false,
        ...(spec.workingDir === undefined ? {} : { WorkingDir: spec.workingDir }),
      });
      const exec = await withDeadline(created, CALL_MS, 'making a process');
      const started = exec.start({ hijack: true, stdin: spec.stdin });
      const socket = await withDeadline(started, CALL_MS, 'starting a process');
      return { socket, exitCode: () => exitCodeOf(exec) };
    } catch (thrown) {
      throw sandboxLost(`no process can be started in it (${errorMessage(thrown).trim()})`, thrown);
    }
  }
}

/** A container as the sweep sees it. */
export interface LabelledContainer {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Every option is given, so that docker-modem takes none from the environment. */
function connect(address: EngineAddress): Docker {
  try {
    return new Docker({
      ...address,
      protocol: 'http',
      username: undefined,
      ca: undefined,
      cert: undefined,
      key: undefined,
      timeout: undefined,
    });
  } catch (thrown) {
    // docker-modem looks at DOCKER_HOST and DOCKER_CERT_PATH even so, and throws when they are wrong.
    throw new SkillmillError(
      'CONFIG_INVALID',
      `The Docker client cannot be set up (${errorMessage(thrown)}): check DOCKER_HOST, DOCKER_TLS_VERIFY and DOCKER_CERT_PATH.`,
      { cause: thrown },
    );
  }
}

/** The engine may call an exec running for a moment after its output has ended: ask until it does not. */
async function exitCodeOf(exec: Docker.Exec): Promise<number> {
  const deadline = performance.now() + EXIT_CODE_MS;
  try {
    for (;;) {
      const info = await withDeadline(exec.inspect(), CALL_MS, 'asking for the exit code');
      if (!info.Running && info.ExitCode !== null) return info.ExitCode;
      if (performance.now() > deadline)
        throw new Error('it has closed its output but does not end');
      await sleep(EXIT_CODE_POLL_MS);
    }
  } catch (thrown) {
    throw sandboxLost(
      `a process’s exit code is not to be had (${errorMessage(thrown).trim()})`,
      thrown,
    );
  }
}

function statusOf(thrown: unknown): number | undefined {
  const known = typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown;
  return known && typeof thrown.statusCode === 'number' ? thrown.statusCode : undefined;
}
