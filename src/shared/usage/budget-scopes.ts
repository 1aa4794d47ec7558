import type { Budget, BudgetPeriod, Budgets } from '../config/budget-config.js';
import {
  sessionTag,
  type SessionId,
  type Tenant,
  type TurnId,
  type TurnLimits,
} from '../contracts/index.js';
import {
  batchBudgetKeys,
  sessionBudgetKeys,
  tenantBudgetKeys,
  turnBudgetKeys,
  type BudgetKeys,
} from '../redis/keys.js';
import { periodOf, usageTtlSeconds, withDayToSpare } from './utc-day.js';

/** Whose call it is: what a budget may look at of a turn. */
export interface BudgetedTurn {
  readonly tenant: Tenant;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly batchId?: string | undefined;
  readonly limits?: TurnLimits | undefined;
}

/** One budget that a call counts against. */
export interface BudgetScope {
  readonly name: 'turn' | 'session' | 'batch' | 'tenant';
  readonly keys: BudgetKeys;
  readonly ttlSeconds: number;
  /** Empty for a tenant without a budget: its spending is counted all the same. */
  readonly budget: Budget;
  /** May calls of several turns be in flight at once? Turns of one session run one at a time. */
  readonly isShared: boolean;
  /** The units that the turn's own request limits more than the operator does. */
  readonly asked: ReadonlySet<keyof Budget>;
  readonly per?: BudgetPeriod;
}

export interface ScopeSettings {
  readonly budgets: Budgets;
  readonly resultTtlSeconds: number;
  readonly sessionTtlSeconds: number;
}

/** The budgets of a turn's call at a moment (ms since 1970), in the order in which they are reserved. The last is the tenant's. */
export function scopesOf(
  turn: BudgetedTurn,
  settings: ScopeSettings,
  now: number,
): readonly [...BudgetScope[], BudgetScope] {
  const { tenant, batchId } = turn;
  const { budgets } = settings;
  const scopes: BudgetScope[] = [];
  const own = turnScope(turn, settings);
  if (hasLimit(own.budget)) scopes.push(own);
  if (budgets.session !== undefined) {
    scopes.push({
      name: 'session',
      keys: sessionBudgetKeys(tenant, sessionTag(tenant, turn.sessionId)),
      ttlSeconds: withDayToSpare(settings.sessionTtlSeconds),
      budget: budgets.session,
      isShared: false,
      asked: new Set(),
    });
  }
  const shared = { ttlSeconds: usageTtlSeconds, isShared: true, asked: new Set<keyof Budget>() };
  if (budgets.batch !== undefined && batchId !== undefined) {
    const keys = batchBudgetKeys(tenant, batchId);
    scopes.push({ ...shared, name: 'batch', keys, budget: budgets.batch });
  }
  const { per = 'month', ...budget } = budgets.tenant ?? {};
  const keys = tenantBudgetKeys(tenant, periodOf(per, now));
  return [...scopes, { ...shared, name: 'tenant', keys, budget, per }];
}

/** The lower of what the operator and what the request allows a turn. */
function turnScope(turn: BudgetedTurn, settings: ScopeSettings): BudgetScope {
  const { tokens = Infinity, usd = Infinity } = settings.budgets.turn ?? {};
  const { maxTotalTokens = Infinity, maxCostUsd = Infinity } = turn.limits ?? {};
  const asked = new Set<keyof Budget>();
  if (maxTotalTokens < tokens) asked.add('tokens');
  if (maxCostUsd < usd) asked.add('usd');
  return {
    name: 'turn',
    keys: turnBudgetKeys(turn.tenant, turn.turnId),
    ttlSeconds: withDayToSpare(settings.resultTtlSeconds),
    budget: {
      tokens: finite(Math.min(tokens, maxTotalTokens)),
      usd: finite(Math.min(usd, maxCostUsd)),
    },
    isShared: false,
    asked,
  };
}

function finite(amount: number): number | undefined {
  return amount === Infinity ? undefined : amount;
}

/** Does this budget limit anything? */
export function hasLimit(budget: Budget): boolean {
  return budget.tokens !== undefined || budget.usd !== undefined;
}
