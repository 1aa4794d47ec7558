import { SkillmillError, errorMessage } from '../../../shared/errors/skillmill-error.js';
import { withDeadline } from '../../async/deadline.js';
import { Channel } from './channel.js';
import type { containerSpec } from './container-spec.js';
import type { DockerEngine } from './docker-engine.js';
import { KEEPER, RUNNER } from './sandbox-users.js';

const READY_MS = 30_000;
const TOLD_BYTES = 8192;

/** What is known of a container before it is made. */
export interface ContainerPlace {
  readonly engine: DockerEngine;
  readonly name: string;
  /** Where the folders of its commands are, see `runDirOf`. */
  readonly runs: string;
}

/** A container that was started, whose supervisor waits for requests. */
export class LiveContainer implements ContainerPlace {
  readonly engine: DockerEngine;
  readonly name: string;
  readonly runs: string;
  readonly channel: Channel;
  #removal: Promise<void> | undefined;

  constructor({ engine, name, runs }: ContainerPlace, channel: Channel) {
    this.engine = engine;
    this.name = name;
    this.runs = runs;
    this.channel = channel;
  }

  /** Removes it and all in it; once it is gone that does nothing. */
  remove(): Promise<void> {
    this.channel.destroy();
    this.#removal ??= this.engine.removeContainer(this.name).catch((thrown: unknown) => {
      this.#removal = undefined; // the next call tries again
      throw thrown;
    });
    return this.#removal;
  }
}

/** Makes and starts a container and waits until its workspace is made. What was made is the caller's to remove when this
 *  fails. @throws SkillmillError SANDBOX_UNAVAILABLE */
export async function startLive(
  place: ContainerPlace,
  spec: ReturnType<typeof containerSpec>,
): Promise<LiveContainer> {
  const channel = new Channel(await place.engine.startAttached(place.name, spec));
  const told: string[] = [];
  try {
    await withDeadline(untilReady(channel, told), READY_MS, 'making its workspace');
    return new LiveContainer(place, channel);
  } catch (thrown) {
    channel.destroy();
    const why = told.join('').slice(0, TOLD_BYTES).trim() || errorMessage(thrown);
    throw new SkillmillError(
      'SANDBOX_UNAVAILABLE',
      `The sandbox’s workspace cannot be made: ${why}. The image needs bash, coreutils, util-linux (setpriv), findutils and tar, and users ${RUNNER} and ${KEEPER} (docker/runner/Dockerfile shows one).`,
      { cause: thrown },
    );
  }
}

async function untilReady(channel: Channel, told: string[]): Promise<void> {
  for await (const { bytes } of channel.ready().output()) told.push(bytes.toString('utf8'));
}
