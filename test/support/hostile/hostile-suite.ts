import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client, type TurnResult } from '../../../src/producer/index.js';
import type { WorkerProcess } from '../cli.js';
import { openWorld, type World } from '../world.js';
import { residentBytes } from './host-look.js';
import {
  messageOf,
  scriptTurn,
  sessionOf,
  type HostileTurn,
  type SeenHost,
} from './hostile-turn.js';

/** What a worker may have grown by when all attacks are over. */
export const growthLimitBytes = 64 * 1024 * 1024;

/** One world in which every turn runs, two at a time, on one worker. */
export interface HostileSuite {
  readonly world: World;
  readonly worker: WorkerProcess;
  /** What the host showed at the end of each turn, by its id. */
  readonly seen: Map<string, SeenHost>;
  /** The worker's memory before the first attack. */
  readonly memoryBefore: number;
  resultOf(turn: HostileTurn): Promise<TurnResult>;
  /** Files in the worker's temporary folder and in the store's incoming one: none once it has ended. */
  leftFiles(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts the world and enqueues every turn; their results come one after another. */
export async function openHostileSuite(turns: readonly HostileTurn[]): Promise<HostileSuite> {
  const dir = await mkdtemp(join(tmpdir(), 'skillmill-hostile-'));
  const temporary = join(dir, 'tmp');
  const data = join(dir, 'data');
  await mkdir(temporary);
  const world = await openWorld({
    OPENAI_API_KEY: 'sk-key-that-no-command-sees',
    SKILLMILL_CONCURRENCY: '2',
    SKILLMILL_SANDBOX_MEMORY_MB: '256',
    SKILLMILL_SANDBOX_DISK_MB: '80',
    SKILLMILL_SANDBOX_PROCESSES: '64',
    SKILLMILL_DATA_DIR: data,
  });
  const client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  const NODE_OPTIONS = `--import=${join(import.meta.dirname, 'collect-garbage.js')}`;
  const worker = await world.worker({ TMPDIR: temporary, NODE_OPTIONS });
  const memoryBefore = await warmUp(world, client, worker);
  const seen = new Map<string, SeenHost>();
  const ids = new Map<string, string>();
  for (const turn of turns) ids.set(turn.id, await enqueue(world, client, turn, seen));
  return {
    world,
    worker,
    seen,
    memoryBefore,
    resultOf: ({ id }) => client.result(ids.get(id) ?? ''),
    async leftFiles() {
      const incoming = await readdir(join(data, 'incoming')).catch(() => []);
      return [...(await readdir(temporary)), ...incoming];
    },
    async close() {
      await client.close();
      await world.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function enqueue(
  world: World,
  client: Client,
  turn: HostileTurn,
  seen: Map<string, SeenHost>,
): Promise<string> {
  scriptTurn(world, turn, seen);
  const request = { input: messageOf(turn), sessionId: sessionOf(turn) };
  return (await client.enqueue(request)).turnId;
}

/** The worker's memory without what it no longer uses. */
export async function settledBytes({ child }: WorkerProcess): Promise<number> {
  child.kill('SIGUSR2');
  await sleep(1000); // nothing says when it is through
  return await residentBytes(child.pid ?? 0);
}

/** A worker that has run nothing yet has not loaded what every turn needs. */
async function warmUp(world: World, client: Client, worker: WorkerProcess): Promise<number> {
  for (const id of ['warm-1', 'warm-2', 'warm-3']) {
    await client.result(await enqueue(world, client, { id, cases: [] }, new Map()));
  }
  return await settledBytes(worker);
}
