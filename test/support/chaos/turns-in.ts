import { setTimeout as sleep } from 'node:timers/promises';
import { defaultTenant, turnIdSchema } from '../../../src/shared/contracts/index.js';
import { turnKeys } from '../../../src/shared/redis/keys.js';
import type { TurnPlan } from './chaos-plan.js';
import type { ChaosWorld } from './chaos-world.js';
import type { AcceptedTurn } from './facts.js';

type Accepted = { -readonly [Field in keyof AcceptedTurn]: AcceptedTurn[Field] };

/** Puts all turns in, in their order. */
export async function enqueueAll(
  { client }: ChaosWorld,
  plans: readonly TurnPlan[],
): Promise<Accepted[]> {
  const accepted: Accepted[] = [];
  for (const plan of plans) {
    const { sessionId, text } = plan;
    const { turnId } = await client.enqueue({ sessionId, input: text, skills: ['chaos'] });
    accepted.push({ turnId, plan, cancel: undefined });
  }
  return accepted;
}

/** Follows how many turns are done, and cancels some on the way. */
export class Progress {
  #open: Accepted[];
  readonly #all: readonly Accepted[];
  readonly #world: ChaosWorld;

  constructor(world: ChaosWorld, accepted: readonly Accepted[]) {
    this.#world = world;
    this.#all = accepted;
    this.#open = [...accepted];
  }

  get done(): number {
    return this.#all.length - this.#open.length;
  }

  readonly doneShare = (): number => this.done / this.#all.length;

  /** Looks until every turn has its result, or the time is over; true when all have. */
  async follow(limitMs: number, onLook: () => void): Promise<boolean> {
    const end = performance.now() + limitMs;
    while (this.#open.length > 0 && performance.now() < end) {
      await sleep(250);
      await this.#look().catch(() => undefined); // Redis is away for a moment
      await this.#cancelDue();
      onLook();
    }
    return this.#open.length === 0;
  }

  async #look(): Promise<void> {
    const asked = this.#world.redis.pipeline();
    for (const { turnId } of this.#open)
      asked.hexists(turnKeys(defaultTenant, turnIdSchema.parse(turnId)).turn, 'result');
    const replies = (await asked.exec()) ?? [];
    this.#open = this.#open.filter((_, index) => replies[index]?.[1] !== 1);
  }

  async #cancelDue(): Promise<void> {
    const share = this.doneShare();
    for (const turn of this.#open) {
      const { cancelAt } = turn.plan;
      if (cancelAt === undefined || cancelAt > share || turn.cancel !== undefined) continue;
      turn.cancel = await this.#world.client.cancel(turn.turnId).catch(() => 'unknown' as const);
    }
  }
}
