import { randomUUID } from 'node:crypto';
import type { BudgetPeriod, Prices } from '../../src/shared/config/budget-config.js';
import { budgetsSchema } from '../../src/shared/config/budget-config.js';
import { makeTurnId, sessionIdSchema, tenantSchema } from '../../src/shared/contracts/index.js';
import type { RedisClient } from '../../src/shared/redis/redis-client.js';
import type { BudgetedTurn } from '../../src/shared/usage/budget-scopes.js';
import { createUsageLedger, type UsageLedger } from '../../src/shared/usage/usage-ledger.js';

interface BudgetInput {
  readonly tokens?: number;
  readonly usd?: number;
}

export interface DeskOptions {
  readonly turn?: BudgetInput;
  readonly session?: BudgetInput;
  readonly batch?: BudgetInput;
  readonly tenant?: BudgetInput & { readonly per?: BudgetPeriod };
  readonly callOutputTokens?: number;
  readonly callLifetimeMs?: number;
}

/** A dollar a million tokens: a token is a micro-USD. */
export const prices: Prices = new Map([
  ['gpt', { inputPerMillion: 1, cachedInputPerMillion: 0.5, outputPerMillion: 2 }],
]);

/** A ledger with these budgets. */
export function openLedger(client: RedisClient, options: DeskOptions = {}): UsageLedger {
  const { callLifetimeMs = 600_000, ...budgets } = options;
  return createUsageLedger(client, {
    prices,
    budgets: budgetsSchema.parse(budgets),
    resultTtlSeconds: 1000,
    sessionTtlSeconds: 2000,
    callLifetimeMs,
  });
}

/** A turn of this session; each call gives another one. */
export function turnOf(session = 's1', more: Partial<BudgetedTurn> = {}): BudgetedTurn {
  const tenant = more.tenant ?? tenantSchema.parse('acme');
  const sessionId = sessionIdSchema.parse(session);
  return { tenant, sessionId, turnId: makeTurnId(tenant, sessionId), ...more };
}

/** Never aborted. */
export const patience = new AbortController().signal;

/** A call of 10 input tokens and at most 10 output tokens. */
export const call = (more: Partial<Parameters<UsageLedger['reserve']>[1]> = {}) => ({
  model: 'gpt',
  inputTokens: 10,
  maxOutputTokens: 10,
  ...more,
});

/** What a call of `inputTokens` in and `outputTokens` out did use. */
export const used = (inputTokens: number, outputTokens = 0) => ({
  inputTokens,
  cachedInputTokens: 0,
  outputTokens,
});

/** A batch's name that nobody else has. */
export const makeBatchId = () => `batch-${randomUUID()}`;
