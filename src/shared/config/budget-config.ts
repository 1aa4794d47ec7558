import { z } from 'zod';

/** What a model's tokens cost, in USD a million. */
export interface Price {
  readonly inputPerMillion: number;
  /** Input that the provider had in its cache. */
  readonly cachedInputPerMillion: number;
  readonly outputPerMillion: number;
}

/** Prices by model; a trailing `*` stands for whatever follows. */
export type Prices = ReadonlyMap<string, Price>;

/** What may be spent. Tokens are input and output together, cached input included. */
export interface Budget {
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
}

/** The time after which a tenant's budget begins anew, in UTC. */
export type BudgetPeriod = 'day' | 'month' | 'total';

/** The operator's budgets; one that is not set is no limit. */
export interface Budgets {
  readonly turn?: Budget | undefined;
  readonly session?: Budget | undefined;
  readonly batch?: Budget | undefined;
  readonly tenant?: (Budget & { readonly per: BudgetPeriod }) | undefined;
  /** Output tokens that a call is held to, when its turn sets no limit and a budget that others share comes to its end. */
  readonly callOutputTokens: number;
}

const perMillion = z
  .number('must be a price in USD')
  .min(0, 'must not be negative')
  .max(1_000_000, 'must be at most 1000000');

const priceSchema = z
  .strictObject({
    inputPerMillion: perMillion,
    cachedInputPerMillion: perMillion.optional(),
    outputPerMillion: perMillion,
  })
  .transform((price) => ({
    ...price,
    cachedInputPerMillion: price.cachedInputPerMillion ?? price.inputPerMillion,
  }));

/** The config file's `prices`. */
export const pricesSchema = z
  .record(z.string(), priceSchema)
  .superRefine((prices, context) => {
    for (const name of Object.keys(prices).filter((model) => /\*./.test(model))) {
      context.addIssue({ code: 'custom', path: [name], message: 'may have a * only at its end' });
    }
  })
  .prefault({})
  .transform((prices): Prices => new Map(Object.entries(prices)));

const amounts = {
  tokens: z
    .int('must be a whole number above 0')
    .min(1, 'must be a whole number above 0')
    .optional(),
  usd: z
    .number('must be a number above 0')
    .positive('must be a number above 0')
    .max(1_000_000_000, 'must be at most 1000000000')
    .optional(),
};
const hasAmount = (budget: Budget) => budget.tokens !== undefined || budget.usd !== undefined;
const budgetSchema = z.strictObject(amounts).refine(hasAmount, 'must hold tokens, usd or both');

/** The config file's `budgets`. */
export const budgetsSchema = z
  .strictObject({
    turn: budgetSchema.optional(),
    session: budgetSchema.optional(),
    batch: budgetSchema.optional(),
    tenant: z
      .strictObject({
        ...amounts,
        per: z
          .enum(['day', 'month', 'total'], 'must be "day", "month" or "total"')
          .default('month'),
      })
      .refine(hasAmount, 'must hold tokens, usd or both')
      .optional(),
    callOutputTokens: z
      .int('must be a whole number from 1 to 1000000')
      .min(1, 'must be a whole number from 1 to 1000000')
      .max(1_000_000, 'must be a whole number from 1 to 1000000')
      .default(4096),
  })
  .prefault({});

/** No limit. */
export const noBudgets: Budgets = budgetsSchema.parse({});
