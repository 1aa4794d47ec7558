import { randomUUID } from 'node:crypto';
import type { Price } from '../config/budget-config.js';
import { usageKeys } from '../redis/keys.js';
import type { RedisClient } from '../redis/redis-client.js';
import { countCallScript } from '../redis/scripts/count-call.js';
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

/** Whose call it is, and how it is counted. */
interface CallParts {
  readonly turn: BudgetedTurn;
  readonly model: string;
  readonly price: Price | undefined;
  readonly maxOutputTokens: number | undefined;
  /** The UTC day on which the call counts. */
  readonly day: string;
  readonly sessionTtlSeconds: number;
}

/** All that a reservation is made of. */
export interface ReservationParts extends CallParts {
  readonly held: HeldCall;
}

/** A reservation of what is held. Its first end counts; one that failed may be tried again. */
export function createReservation(client: RedisClient, parts: ReservationParts): Reservation {
  return endedOnce(parts.maxOutputTokens, {
    settle: (tokens) => settleCall(client, parts, tokens),
    release: () => dropCall(client, parts.held),
  });
}

/** The right to a call that no budget limits: nothing is held for it in the tenant's account, the last of the scopes. */
export function createUnlimited(
  client: RedisClient,
  scopes: readonly [...BudgetScope[], BudgetScope],
  parts: CallParts,
): Reservation {
  const id = randomUUID();
  const { keys, ttlSeconds } = scopes.at(-1) ?? scopes[0];
  return endedOnce(parts.maxOutputTokens, {
    async settle(spent) {
      const { cost, counts, usd } = accountOf(parts.price, spent);
      const usage = usageKeys(parts.turn.tenant, parts.day);
      await countCallScript.run(
        client,
        [keys.spent, keys.calls, usage.models, usage.sessions],
        [id, cost.tokens, cost.microUsd, ttlSeconds, ...usageArgs(parts), ...counts],
      );
      return usd;
    },
    release: () => Promise.resolve(),
  });
}

interface Ends {
  readonly settle: (tokens: SpentTokens) => Promise<number | undefined>;
  readonly release: () => Promise<void>;
}

function endedOnce(maxOutputTokens: number | undefined, ends: Ends): Reservation {
  let ended: Promise<number | undefined> | undefined;
  const endWith = (work: () => Promise<number | undefined>) =>
    (ended ??= work().catch((error: unknown) => {
      ended = undefined;
      throw error;
    }));
  return {
    maxOutputTokens,
    settle: (tokens) => endWith(() => ends.settle(tokens)),
    async release() {
      await endWith(() => ends.release().then(() => undefined));
    },
  };
}

interface Account {
  readonly cost: CallCost;
  readonly counts: readonly number[];
  /** Undefined for a model without a price. */
  readonly usd: number | undefined;
}

/** What a call used, as it is counted. */
function accountOf(price: Price | undefined, spent: SpentTokens): Account {
  const microUsd = price === undefined ? undefined : microUsdOf(price, spent);
  const cost = { tokens: spent.inputTokens + spent.outputTokens, microUsd: microUsd ?? 0 };
  const counts = packCounts({
    ...spent,
    modelCalls: 1,
    microUsd: cost.microUsd,
    unpricedCalls: price === undefined ? 1 : 0,
    estimatedCalls: spent.estimated === true ? 1 : 0,
  });
  return { cost, counts, usd: microUsd === undefined ? undefined : microUsd / microsPerUsd };
}

async function settleCall(
  client: RedisClient,
  parts: ReservationParts,
  spent: SpentTokens,
): Promise<number | undefined> {
  const { held } = parts;
  const account = accountOf(parts.price, spent);
  await Promise.all(
    held.scopes.map((scope) =>
      scope.name === 'tenant'
        ? settleTenant(client, scope, parts, account)
        : settleScope(client, scope, held.call, account.cost),
    ),
  );
  return account.usd;
}

/** The tenant's budget lies in one slot with its usage, so that both are counted in one step, once. */
async function settleTenant(
  client: RedisClient,
  { keys, ttlSeconds }: BudgetScope,
  parts: ReservationParts,
  { cost, counts }: Account,
): Promise<void> {
  const usage = usageKeys(parts.turn.tenant, parts.day);
  await settleCallScript.run(
    client,
    [keys.spent, keys.calls, usage.models, usage.sessions],
    [parts.held.call, cost.tokens, cost.microUsd, ttlSeconds, ...usageArgs(parts), ...counts],
  );
}

/** Under which names the day's usage is counted, and how long each is kept. */
function usageArgs({ turn, model, sessionTtlSeconds }: CallParts): (string | number)[] {
  const ofSession = `${turn.sessionId} ${model}`;
  return [model, ofSession, usageTtlSeconds, withDayToSpare(sessionTtlSeconds)];
}
