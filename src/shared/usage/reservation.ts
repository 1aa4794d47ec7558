import type { Price } from '../config/budget-config.js';
import { usageKeys } from '../redis/keys.js';
import type { RedisClient } from '../redis/redis-client.js';
import { settleCallScript } from '../redis/scripts/settle-call.js';
import type { BudgetScope, BudgetedTurn } from './budget-scopes.js';
import { dropCall, settleScope, type CallCost, type HeldCall } from './held-call.js';
import { microsPerUsd, microUsdOf, type CallTokens } from './prices.js';
import { packCounts } from './usage-counts.js';
import { usageTtlSeconds, withDayToSpare } from './utc-day.js';

/** What a call did use. */
export interface SpentTokens extends CallTokens {
  /** A tokenizer counted, since the endpoint did not. */
  readonly estimated?: boolean | undefined;
}

/** The right to make one model call. Whoever gets it settles or releases it; one that nobody does counts as spent after its time. */
export interface Reservation {
  /** The output limit that the call must carry, so that it costs no more than is held for it; undefined is none. */
  readonly maxOutputTokens: number | undefined;
  /** Counts what the call used, once, and gives its cost in USD if its model has a price. @throws SkillmillError REDIS_UNAVAILABLE */
  settle(tokens: SpentTokens): Promise<number | undefined>;
  /** The call was not made, or is not billed; nothing is counted. After `settle` it does nothing. @throws SkillmillError REDIS_UNAVAILABLE */
  release(): Promise<void>;
}

/** All that a reservation is made of. */
export interface ReservationParts {
  readonly turn: BudgetedTurn;
  readonly model: string;
  readonly price: Price | undefined;
  readonly held: HeldCall;
  readonly maxOutputTokens: number | undefined;
  /** The UTC day on which the call counts. */
  readonly day: string;
  readonly sessionTtlSeconds: number;
}

/** A reservation of what is held. Its first end counts; one that failed may be tried again. */
export function createReservation(client: RedisClient, parts: ReservationParts): Reservation {
  let ended: Promise<number | undefined> | undefined;
  const endWith = (work: () => Promise<number | undefined>) =>
    (ended ??= work().catch((error: unknown) => {
      ended = undefined;
      throw error;
    }));
  return {
    maxOutputTokens: parts.maxOutputTokens,
    settle: (tokens) => endWith(() => settleCall(client, parts, tokens)),
    async release() {
      await endWith(() => dropCall(client, parts.held).then(() => undefined));
    },
  };
}

async function settleCall(
  client: RedisClient,
  parts: ReservationParts,
  spent: SpentTokens,
): Promise<number | undefined> {
  const { price, held } = parts;
  const microUsd = price === undefined ? undefined : microUsdOf(price, spent);
  const cost = { tokens: spent.inputTokens + spent.outputTokens, microUsd: microUsd ?? 0 };
  const counts = packCounts({
    ...spent,
    modelCalls: 1,
    microUsd: cost.microUsd,
    unpricedCalls: price === undefined ? 1 : 0,
    estimatedCalls: spent.estimated === true ? 1 : 0,
  });
  await Promise.all(
    held.scopes.map((scope) =>
      scope.name === 'tenant'
        ? settleTenant(client, scope, parts, { cost, counts })
        : settleScope(client, scope, held.call, cost),
    ),
  );
  return microUsd === undefined ? undefined : microUsd / microsPerUsd;
}

/** The tenant's budget lies in one slot with its usage, so that both are counted in one step, once. */
async function settleTenant(
  client: RedisClient,
  { keys, ttlSeconds }: BudgetScope,
  { turn, model, held, day, sessionTtlSeconds }: ReservationParts,
  { cost, counts }: { readonly cost: CallCost; readonly counts: readonly number[] },
): Promise<void> {
  const usage = usageKeys(turn.tenant, day);
  await settleCallScript.run(
    client,
    [keys.spent, keys.calls, usage.models, usage.sessions],
    [
      ...[held.call, cost.tokens, cost.microUsd, ttlSeconds],
      ...[model, `${turn.sessionId} ${model}`, usageTtlSeconds, withDayToSpare(sessionTtlSeconds)],
      ...counts,
    ],
  );
}
