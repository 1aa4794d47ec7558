import type { Budgets, Price, Prices } from '../config/budget-config.js';
import { SkillmillError } from '../errors/skillmill-error.js';

/** Money is counted in whole micro-USD. */
export const microsPerUsd = 1_000_000;

/** Tokens of one model call; the cached ones are among the input's. */
export interface CallTokens {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
}

/** The price of a model: that of its name, else that of the longest prefix. */
export function priceOf(prices: Prices, model: string): Price | undefined {
  const exact = prices.get(model);
  if (exact !== undefined) return exact;
  const prefixes = [...prices.keys()].filter(
    (name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)),
  );
  const longest = prefixes.reduce((best, name) => (name.length > best.length ? name : best), '');
  return prices.get(longest);
}

/** What a call costs in micro-USD, rounded up: USD a million tokens are micro-USD a token. */
export function microUsdOf(price: Price, tokens: CallTokens): number {
  const cached = Math.min(tokens.cachedInputTokens, tokens.inputTokens);
  const cost =
    (tokens.inputTokens - cached) * price.inputPerMillion +
    cached * price.cachedInputPerMillion +
    tokens.outputTokens * price.outputPerMillion;
  // Binary fractions must not make a whole number one more.
  return Math.ceil(Number(cost.toFixed(6)));
}

/** A budget in USD is worth nothing for a model without a price. @throws SkillmillError CONFIG_INVALID naming every such model */
export function checkPrices(
  { prices, budgets }: { readonly prices: Prices; readonly budgets: Budgets },
  models: readonly string[],
): void {
  const { turn, session, batch, tenant } = budgets;
  const inUsd = Object.entries({ turn, session, batch, tenant }).filter(
    ([, budget]) => budget?.usd !== undefined,
  );
  const unpriced = models.filter((model) => priceOf(prices, model) === undefined);
  if (inUsd.length === 0 || unpriced.length === 0) return;
  const names = inUsd.map(([name]) => `budgets.${name}.usd`).join(', ');
  throw new SkillmillError(
    'CONFIG_INVALID',
    `The operator’s config sets ${names}, but no price for the model ${unpriced.join(', ')} (OPENAI_MODEL). Add it to prices.`,
    { details: { models: unpriced } },
  );
}
