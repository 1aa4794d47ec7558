import type { Reply, Step, WireRequest } from '../../examples/scripted-model.js';
import { createClient, type Client, type TurnRequest } from '../../src/producer/index.js';
import type { TurnResult } from '../../src/shared/contracts/index.js';
import { openWorld, type World } from './world.js';
import type { Env } from './cli.js';

/** A world with one worker of its own settings, and a client of it in this process: many turns in little time. */
export interface TurnsDesk {
  readonly world: World;
  readonly client: Client;
  /** Runs one turn with these replies; gives its result and the requests that were made for it. */
  turn(
    steps: readonly Step[],
    request?: Partial<TurnRequest>,
  ): Promise<{ result: TurnResult; requests: WireRequest[] }>;
  close(): Promise<void>;
}

/** Opens one. Commands run by the local executor: what is tested here is the loop. */
export async function openTurnsDesk(env: Env = {}): Promise<TurnsDesk> {
  const world = await openWorld({ SKILLMILL_EXECUTOR: 'local', ...env });
  await world.worker();
  const client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  let turns = 0;
  return {
    world,
    client,
    async turn(steps, request = {}) {
      turns += 1;
      const input = `turn ${turns}: ${typeof request.input === 'string' ? request.input : ''}`;
      world.script(`turn ${turns}:`, [...steps]);
      const from = world.model.requests.length;
      const { turnId } = await client.enqueue({ ...request, input });
      const result = await client.result(turnId);
      return { result, requests: world.model.requests.slice(from) };
    },
    async close() {
      await client.close();
      await world.close();
    },
  };
}

/** Replies for the calls of one turn, one after another, whatever the history holds: a call that is made again gets the next. */
export function inOrder(replies: readonly Reply[]): Step[] {
  let next = 0;
  const step = () => replies[next++] ?? { text: 'done' };
  return Array.from({ length: 40 }, () => step);
}

/** A call of a tool. */
export const callOf = (name: string, args: unknown = {}): Reply => ({
  calls: [{ name, arguments: args }],
});
