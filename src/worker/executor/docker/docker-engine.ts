import { createRequire } from 'node:module';
import { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { z } from 'zod';
import { SkillmillError, errorMessage } from '../../../shared/errors/skillmill-error.js';
import { withDeadline } from '../../async/deadline.js';
import { sandboxUnavailable } from '../sandbox-failure.js';
import type { containerSpec } from './container-spec.js';
import { parseDockerHost, type EngineAddress } from './docker-host.js';

// Loaded with the first engine: the local executor needs none, and it costs 0.2 s of CPU time.
const load: (name: 'dockerode') => typeof Docker = createRequire(import.meta.url);

/** Longer than a loaded engine needs for one call (create, start and remove take below 1 s each; seen 8 s under a storm of 50). */
const CALL_MS = 60_000;

const infoSchema = z.object({ Runtimes: z.record(z.string(), z.unknown()).default({}) });

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

  /** Does the engine have a network of this name? */
  async hasNetwork(name: string, timeoutMs = CALL_MS): Promise<boolean> {
    try {
      await withDeadline(this.#docker.getNetwork(name).inspect(), timeoutMs, 'the answer');
      return true;
    } catch (thrown) {
      if (statusOf(thrown) === 404) return false;
      throw sandboxUnavailable(`Cannot look for the network ${name}`, thrown);
    }
  }

  /** The names of the runtimes that the engine knows. */
  async runtimes(timeoutMs = CALL_MS): Promise<readonly string[]> {
    try {
      const info = infoSchema.parse(
        await withDeadline(this.#docker.info(), timeoutMs, 'the answer'),
      );
      return Object.keys(info.Runtimes);
    } catch (thrown) {
      throw sandboxUnavailable('Cannot ask for the runtimes', thrown);
    }
  }

  /** Makes and starts a container of that name and gives its attached input and (multiplexed) output; one that was made but
   *  did not start is the caller's to remove. */
  async startAttached(name: string, spec: ReturnType<typeof containerSpec>): Promise<Duplex> {
    const made = this.#docker.createContainer({ name, ...spec });
    try {
      await withDeadline(made, CALL_MS, 'making it');
      const container = this.#docker.getContainer(name);
      const streams = { stream: true, stdin: true, stdout: true, stderr: true };
      const attached = container.attach({ ...streams, hijack: true });
      const socket = await withDeadline(attached, CALL_MS, 'attaching to it');
      socket.on('error', () => undefined); // its reader is told
      if (!(socket instanceof Duplex)) throw new Error('its channel is not to be had');
      const started = container.start();
      await withDeadline(started, CALL_MS, 'starting it');
      return socket;
    } catch (thrown) {
      // One that is made after we gave up is nobody's: the caller has removed its name by then.
      made.then(() => this.removeContainer(name)).catch(() => undefined);
      throw sandboxUnavailable('Cannot start a sandbox', thrown);
    }
  }

  /** Sends a signal to a container's main process. */
  async signalContainer(name: string, signal: string): Promise<void> {
    try {
      const sent = this.#docker.getContainer(name).kill({ signal });
      await withDeadline(sent, CALL_MS, 'signalling it');
    } catch (thrown) {
      throw sandboxUnavailable(`Cannot signal the sandbox ${name}`, thrown);
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
    const Dockerode = load('dockerode');
    return new Dockerode({
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

function statusOf(thrown: unknown): number | undefined {
  const known = typeof thrown === 'object' && thrown !== null && 'statusCode' in thrown;
  return known && typeof thrown.statusCode === 'number' ? thrown.statusCode : undefined;
}
