import type { Budget } from '../config/budget-config.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import type { BudgetScope } from './budget-scopes.js';

const ownLimits = { tokens: 'maxTotalTokens', usd: 'maxCostUsd' } as const;
const anew = { day: 'tomorrow (UTC)', month: 'next month (UTC)', total: undefined } as const;

/** The error of a budget that is used up: LIMIT_EXCEEDED. */
export function budgetSpent(scope: BudgetScope, unit: keyof Budget, spent: number): SkillmillError {
  const { name, budget, per } = scope;
  const limit = scope.asked.has(unit) ? ownLimits[unit] : 'budget';
  const amounts = `${amountOf(unit, budget[unit] ?? 0)} (spent: ${amountOf(unit, spent)})`;
  const restarts = per === undefined ? undefined : anew[per];
  const advice =
    limit === 'budget'
      ? `Raise budgets.${name} in the operator’s config${restarts === undefined ? '' : `, or wait: it begins anew ${restarts}`}.`
      : `Raise limits.${limit} if it needs more.`;
  return new SkillmillError(
    'LIMIT_EXCEEDED',
    `The ${name}’s budget of ${amounts} is used up. ${advice}`,
    { details: { limit, scope: name, unit, budget: budget[unit], spent } },
  );
}

/** The error of a budget in USD that cannot be kept, since the model's price is not known: LIMIT_EXCEEDED. */
export function noPrice(scope: BudgetScope, model: string): SkillmillError {
  return new SkillmillError(
    'LIMIT_EXCEEDED',
    `The ${scope.name} has a budget in USD, and the model ${model} has no price. Add it to prices in the operator’s config, or name another model.`,
    { details: { limit: 'price', scope: scope.name, unit: 'usd', model } },
  );
}

function amountOf(unit: keyof Budget, amount: number): string {
  return unit === 'tokens' ? `${amount} tokens` : `${amount} USD`;
}
