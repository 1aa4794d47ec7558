import { setTimeout as sleep } from 'node:timers/promises';
import { docker } from '../docker.js';
import { randomNumbers } from '../random-numbers.js';
import type { ChaosSize } from './chaos-plan.js';
import type { ChaosWorld } from './chaos-world.js';

/** What has been broken so far. */
export interface Trouble {
  readonly workers: () => number;
  readonly containers: () => number;
  readonly redis: () => number;
  /** Breaks nothing more, and waits for what is being broken. */
  stop(): Promise<void>;
}

/** Of the kills so many hit a worker, the others a container. */
const workerShare = 0.6;
/** Containers of workers that died before stay for a while: those that serve a turn now are among the youngest. */
const youngest = 8;

/** Kills workers and containers at random times, and Redis whenever another part of the turns is done. */
export function makeTrouble(
  world: ChaosWorld,
  size: ChaosSize,
  { seed, doneShare }: { readonly seed: number; readonly doneShare: () => number },
): Trouble {
  const stopping = new AbortController();
  const { signal } = stopping;
  const random = randomNumbers(seed);
  const made = { workers: 0, containers: 0, redis: 0 };
  const [least, most] = size.killEveryMs;

  const killing = async () => {
    for (let n = 0; n < size.kills; n += 1) {
      await sleep(least + random() * (most - least), undefined, { signal });
      if (random() < workerShare) made.workers += world.crew.killOne(random) ? 1 : 0;
      else made.containers += (await killContainer(world.deployment, random)) ? 1 : 0;
    }
  };
  const restarting = async () => {
    while (made.redis < size.redisRestarts) {
      await sleep(100, undefined, { signal });
      if (doneShare() < (made.redis + 1) / (size.redisRestarts + 1)) continue;
      await world.server.restart();
      made.redis += 1;
    }
  };
  const all = Promise.allSettled([killing(), restarting()]);
  return {
    workers: () => made.workers,
    containers: () => made.containers,
    redis: () => made.redis,
    async stop() {
      stopping.abort();
      for (const end of await all)
        if (end.status === 'rejected' && !isAbort(end.reason)) throw end.reason;
    },
  };
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** False when there is none, or the chosen one has just gone. */
async function killContainer(deployment: string, random: () => number): Promise<boolean> {
  const filters = { label: [`skillmill.deployment=${deployment}`], status: ['running'] };
  const running = await docker.listContainers({ filters });
  const candidates = running.sort((a, b) => b.Created - a.Created).slice(0, youngest);
  const chosen = candidates[Math.floor(random() * candidates.length)];
  if (chosen === undefined) return false;
  return docker
    .getContainer(chosen.Id)
    .kill({ signal: 'SIGKILL' })
    .then(() => true)
    .catch(() => false);
}
