import { randomUUID } from 'node:crypto';
import type { RedisClient } from '../redis/redis-client.js';
import { reserveCallScript } from '../redis/scripts/reserve-call.js';
import { settleCallScript } from '../redis/scripts/settle-call.js';
import { budgetSpent } from './budget-refusal.js';
import type { BudgetScope } from './budget-scopes.js';
import { microsPerUsd } from './prices.js';

/** What a call costs. */
export interface CallCost {
  readonly tokens: number;
  readonly microUsd: number;
}

/** A call as its budgets hold it. */
export interface HeldCall {
  /** As the scripts know it. */
  readonly call: string;
  readonly scopes: readonly BudgetScope[];
}

export interface HoldOptions {
  /** The most that the call may cost. */
  readonly held: CallCost;
  /** What counts as spent should nobody settle the call within its time. */
  readonly ifLost: CallCost;
  /** The call's time (ms). */
  readonly lifetimeMs: number;
  /** Only if it fits into the budgets that several turns share, even as their only call. */
  readonly mustFit: boolean;
}

/**
 * Holds a call's cost in every budget, or in none; undefined when calls in flight stand in the way.
 * @throws SkillmillError LIMIT_EXCEEDED, REDIS_UNAVAILABLE
 */
export async function holdCall(
  client: RedisClient,
  scopes: readonly BudgetScope[],
  options: HoldOptions,
): Promise<HeldCall | undefined> {
  const { held, ifLost } = options;
  const amounts = [held.tokens, held.microUsd, ifLost.tokens, ifLost.microUsd];
  const call = [randomUUID(), ...amounts].join(':');
  const tried: BudgetScope[] = [];
  let isHeld = false;
  try {
    for (const scope of scopes) {
      tried.push(scope);
      const { outcome, unit, spent } = await reserve(client, scope, call, options);
      if (outcome === 'busy') return undefined;
      if (outcome === 'spent') {
        throw unit === 'microUsd'
          ? budgetSpent(scope, 'usd', spent / microsPerUsd)
          : budgetSpent(scope, 'tokens', spent);
      }
    }
    isHeld = true;
    return { call, scopes };
  } finally {
    // The last one may hold it although no answer came; where it is not held, this changes nothing.
    if (!isHeld) await dropCall(client, { call, scopes: tried });
  }
}

function reserve(
  client: RedisClient,
  { keys, ttlSeconds, isShared, budget }: BudgetScope,
  call: string,
  { lifetimeMs, mustFit }: HoldOptions,
): ReturnType<typeof reserveCallScript.run> {
  const { tokens = '', usd } = budget;
  return reserveCallScript.run(
    client,
    [keys.spent, keys.calls],
    [
      ...[call, lifetimeMs, ttlSeconds],
      ...[isShared ? 0 : 1, isShared && mustFit ? 1 : 0],
      ...[tokens, usd === undefined ? '' : Math.round(usd * microsPerUsd)],
    ],
  );
}

/** Gives up what is held for a call. @throws SkillmillError REDIS_UNAVAILABLE */
export async function dropCall(client: RedisClient, { call, scopes }: HeldCall): Promise<void> {
  const nothing = { tokens: 0, microUsd: 0 };
  await Promise.all(scopes.map((scope) => settleScope(client, scope, call, nothing)));
}

/** Puts a call's cost in place of what one budget holds for it. @throws SkillmillError REDIS_UNAVAILABLE */
export async function settleScope(
  client: RedisClient,
  { keys, ttlSeconds }: BudgetScope,
  call: string,
  { tokens, microUsd }: CallCost,
): Promise<void> {
  const args = [call, tokens, microUsd, ttlSeconds];
  await settleCallScript.run(client, [keys.spent, keys.calls], args);
}
