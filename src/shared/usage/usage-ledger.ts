import { setTimeout as sleep } from 'node:timers/promises';
import type { Price, Prices } from '../config/budget-config.js';
import type { Tenant, TurnResult } from '../contracts/index.js';
import { skillsCountedKey, usageKeys, usageTenantsKey } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { countSkillsScript } from '../redis/scripts/count-skills.js';
import { noPrice } from './budget-refusal.js';
import {
  hasLimit,
  scopesOf,
  type BudgetScope,
  type BudgetedTurn,
  type ScopeSettings,
} from './budget-scopes.js';
import { holdCall, type CallCost, type HeldCall } from './held-call.js';
import { microsPerUsd, microUsdOf, priceOf } from './prices.js';
import { createRedisClock } from './redis-clock.js';
import { createReservation, createUnlimited, type Reservation } from './reservation.js';
import { packCounts } from './usage-counts.js';
import { dayOf, usageTtlSeconds, withDayToSpare } from './utc-day.js';

/** One model call that is about to be made. */
export interface LedgerCall {
  readonly model: string;
  /** As counted or estimated; 0 will do where `isLimited` says no. */
  readonly inputTokens: number;
  /** The request's own limit. */
  readonly maxOutputTokens: number | undefined;
}

/** The accounts of turns, sessions, batches and tenants. */
export interface UsageLedger {
  /** Does any budget limit this turn's calls? */
  isLimited(turn: BudgetedTurn): boolean;
  /**
   * Reserves the most that a call may cost, in every budget of its turn. A call that does not fit beside those in flight waits for
   * them; as the only one it may pass a budget. So a budget is used up, and is never passed by more than one call. Where no budget
   * limits the turn nothing is held: the call is counted once it has an end.
   * @throws SkillmillError LIMIT_EXCEEDED with `details { limit, scope, unit, budget, spent }`, REDIS_UNAVAILABLE; the signal's reason
   */
  reserve(turn: BudgetedTurn, call: LedgerCall, signal: AbortSignal): Promise<Reservation>;
  /** Counts a finished turn for each skill that it used; once, however often it is asked. @throws SkillmillError REDIS_UNAVAILABLE */
  countSkills(tenant: Tenant, result: TurnResult): Promise<void>;
}

export interface LedgerSettings extends ScopeSettings {
  readonly prices: Prices;
  /** A reservation that nobody ends counts as spent after this time (ms). */
  readonly callLifetimeMs: number;
}

const firstPauseMs = 100;
const longestPauseMs = 1000;
/** No model writes more in one call: where this fits, a call needs no output limit. */
const boundlessOutputTokens = 131_072;

/** Opens the accounts. */
export function createUsageLedger(client: RedisClient, settings: LedgerSettings): UsageLedger {
  const { prices, sessionTtlSeconds } = settings;
  const announce = createAnnouncer(client);
  const redisNow = createRedisClock(client);
  return {
    isLimited: (turn) => scopesOf(turn, settings, 0).some(({ budget }) => hasLimit(budget)),
    async reserve(turn, call, signal) {
      const { model } = call;
      const price = priceOf(prices, model);
      for (let pause = firstPauseMs; ; pause = Math.min(pause * 1.5, longestPauseMs)) {
        signal.throwIfAborted();
        const now = await redisNow();
        const day = dayOf(now);
        await announce(turn.tenant, day);
        const scopes = scopesOf(turn, settings, now);
        const parts = { turn, model, price, day, sessionTtlSeconds };
        if (!scopes.some(({ budget }) => hasLimit(budget))) {
          return createUnlimited(client, scopes, { ...parts, ...call });
        }
        const got = await hold(client, settings, scopes, { ...call, price });
        if (got !== undefined) {
          return createReservation(client, { ...parts, ...got });
        }
        // Those who wait for the same calls must not all come back at once.
        await sleep(pause * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
      }
    },
    async countSkills(tenant, result) {
      if (result.skills.length === 0) return;
      const day = dayOf(await redisNow());
      await announce(tenant, day);
      await countTurn(client, usageKeys(tenant, day).skills, tenant, result);
    },
  };
}

interface Got {
  readonly held: HeldCall;
  readonly maxOutputTokens: number | undefined;
}

/** Holds a call in all its budgets; undefined when it has to wait for others. @throws SkillmillError LIMIT_EXCEEDED, REDIS_UNAVAILABLE */
async function hold(
  client: RedisClient,
  { budgets, callLifetimeMs: lifetimeMs }: LedgerSettings,
  scopes: readonly BudgetScope[],
  call: LedgerCall & { readonly price: Price | undefined },
): Promise<Got | undefined> {
  const { maxOutputTokens } = call;
  const inUsd = scopes.find(({ budget }) => budget.usd !== undefined);
  if (call.price === undefined && inUsd !== undefined) throw noPrice(inUsd, call.model);
  const ifLost = mostOf(call, maxOutputTokens ?? budgets.callOutputTokens);
  const isShared = scopes.some((scope) => scope.isShared && hasLimit(scope.budget));
  if (maxOutputTokens !== undefined || !isShared) {
    const held = await holdCall(client, scopes, {
      held: ifLost,
      ifLost,
      lifetimeMs,
      mustFit: false,
    });
    return held && { held, maxOutputTokens };
  }
  const boundless = mostOf(call, boundlessOutputTokens);
  const fitting = { held: boundless, ifLost, lifetimeMs, mustFit: true };
  const free = await holdCall(client, scopes, fitting);
  if (free !== undefined) return { held: free, maxOutputTokens };
  const bound = await holdCall(client, scopes, { ...fitting, held: ifLost, mustFit: false });
  return bound && { held: bound, maxOutputTokens: budgets.callOutputTokens };
}

function mostOf(
  { inputTokens, price }: LedgerCall & { readonly price: Price | undefined },
  outputTokens: number,
): CallCost {
  const tokens = { inputTokens, cachedInputTokens: 0, outputTokens };
  const microUsd = price === undefined ? 0 : microUsdOf(price, tokens);
  return { tokens: inputTokens + outputTokens, microUsd };
}

async function countTurn(
  client: RedisClient,
  skillsKey: string,
  tenant: Tenant,
  { turnId, usage, skills }: TurnResult,
): Promise<void> {
  const { modelCalls, costUsd, estimated } = usage;
  const counts = packCounts({
    ...usage,
    microUsd: Math.round((costUsd ?? 0) * microsPerUsd),
    unpricedCalls: costUsd === undefined ? modelCalls : 0,
    estimatedCalls: estimated === true ? modelCalls : 0,
  });
  await countSkillsScript.run(
    client,
    [skillsCountedKey(tenant, turnId), skillsKey],
    [
      withDayToSpare(0),
      usageTtlSeconds,
      counts.length,
      ...counts,
      ...skills.map(({ name }) => name),
    ],
  );
}

/** Puts a tenant on the list of those that have usage; once a day is enough for a list that is kept for longer. */
function createAnnouncer(client: RedisClient): (tenant: Tenant, day: string) => Promise<void> {
  const announced = new Map<Tenant, string>();
  return async (tenant, day) => {
    if (announced.get(tenant) === day) return;
    try {
      await client.sadd(usageTenantsKey(), tenant);
      await client.expire(usageTenantsKey(), usageTtlSeconds);
    } catch (error) {
      throw redisError(error);
    }
    announced.set(tenant, day);
  };
}
