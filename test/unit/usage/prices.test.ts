import { describe, expect, it } from 'vitest';
import type { Price } from '../../../src/shared/config/budget-config.js';
import { budgetsSchema } from '../../../src/shared/config/budget-config.js';
import { checkPrices, microUsdOf, priceOf } from '../../../src/shared/usage/prices.js';

const price = (inputPerMillion: number, more: Partial<Price> = {}): Price => ({
  inputPerMillion,
  cachedInputPerMillion: inputPerMillion,
  outputPerMillion: 0,
  ...more,
});
const tokens = (inputTokens: number, cachedInputTokens = 0, outputTokens = 0) => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
});

describe('the price of a model', () => {
  const prices = new Map(
    ['*', 'gpt-4o*', 'gpt-*', 'gpt-4o', 'local/llama*'].map((name, index) => [name, price(index)]),
  );

  it.each([
    ['gpt-4o', 3],
    ['gpt-4o-mini', 1],
    ['gpt-5', 2],
    ['local/llama', 4],
    ['llama', 0],
    ['', 0],
  ])('of %s is that of its name, else of the longest prefix', (model, expected) => {
    expect(priceOf(prices, model)?.inputPerMillion).toBe(expected);
  });

  it('is not there for a model that nothing names', () => {
    expect(priceOf(new Map([['gpt-4o', price(1)]]), 'gpt-4o-mini')).toBeUndefined();
    expect(priceOf(new Map(), 'gpt')).toBeUndefined();
  });
});

describe('the cost of a call', () => {
  it.each([
    ['input', price(2.5), tokens(1000), 2500],
    ['cached input', price(2.5, { cachedInputPerMillion: 1.25 }), tokens(1000, 400), 2000],
    ['output', price(0, { outputPerMillion: 10 }), tokens(5, 0, 7), 70],
    ['a part of a micro-USD, rounded up', price(0.15), tokens(1), 1],
    ['binary fractions that are whole', price(0.15), tokens(1000), 150],
    ['binary fractions that are whole', price(0.1), tokens(30), 3],
    ['nothing', price(5), tokens(0), 0],
    ['more cached than there was', price(1, { cachedInputPerMillion: 0 }), tokens(10, 99), 0],
  ])('of %s', (_, of, spent, expected) => {
    expect(microUsdOf(of, spent)).toBe(expected);
  });
});

describe('a worker’s models', () => {
  const prices = new Map([['gpt*', price(1)]]);

  it('need prices where a budget is in USD', () => {
    const inUsd = {
      prices,
      budgets: budgetsSchema.parse({ turn: { usd: 1 }, tenant: { usd: 9 } }),
    };
    expect(() => checkPrices(inUsd, ['gpt-4o'])).not.toThrow();
    expect(() => checkPrices(inUsd, ['gpt-4o', 'llama', 'qwen'])).toThrow(
      'sets budgets.turn.usd, budgets.tenant.usd, but no price for the model llama, qwen',
    );
    const inTokens = { prices, budgets: budgetsSchema.parse({ turn: { tokens: 1 } }) };
    expect(() => checkPrices(inTokens, ['llama'])).not.toThrow();
  });
});
