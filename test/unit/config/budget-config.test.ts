import { describe, expect, it } from 'vitest';
import { checkOperatorConfig } from '../../../src/shared/config/operator-config.js';

const check = (content: unknown) => checkOperatorConfig(content, 'c.json', () => undefined);

describe('the operator’s prices and budgets', () => {
  it('are none without a word of them', () => {
    const { prices, budgets } = check({});
    expect([...prices]).toEqual([]);
    expect(budgets).toEqual({ callOutputTokens: 4096 });
  });

  it('are taken as they are; cached input costs what input does, a tenant’s budget is a month’s', () => {
    const { prices, budgets } = check({
      prices: {
        'gpt-4o': { inputPerMillion: 2.5, cachedInputPerMillion: 1.25, outputPerMillion: 10 },
        'local/*': { inputPerMillion: 0.1, outputPerMillion: 0 },
      },
      budgets: {
        turn: { tokens: 1 },
        session: { usd: 0.5 },
        batch: { tokens: 10, usd: 2 },
        tenant: { usd: 100 },
        callOutputTokens: 500,
      },
    });
    expect([...prices]).toEqual([
      ['gpt-4o', { inputPerMillion: 2.5, cachedInputPerMillion: 1.25, outputPerMillion: 10 }],
      ['local/*', { inputPerMillion: 0.1, cachedInputPerMillion: 0.1, outputPerMillion: 0 }],
    ]);
    expect(budgets).toEqual({
      turn: { tokens: 1 },
      session: { usd: 0.5 },
      batch: { tokens: 10, usd: 2 },
      tenant: { usd: 100, per: 'month' },
      callOutputTokens: 500,
    });
    expect(check({ budgets: { tenant: { tokens: 5, per: 'day' } } }).budgets.tenant).toEqual({
      ...{ tokens: 5, per: 'day' },
    });
  });

  it.each([
    [{ prices: { gpt: { inputPerMillion: 1 } } }, 'prices.gpt.outputPerMillion: must be a price'],
    [{ prices: { gpt: 3 } }, 'prices.gpt: '],
    [
      { prices: { gpt: { inputPerMillion: -1, outputPerMillion: '2' } } },
      'prices.gpt.inputPerMillion: must not be negative; prices.gpt.outputPerMillion: must be a price in USD',
    ],
    [
      { prices: { 'a*b': { inputPerMillion: 1, outputPerMillion: 1 } } },
      'prices.a*b: may have a * only at its end',
    ],
    [{ budgets: { turn: {} } }, 'budgets.turn: must hold tokens, usd or both'],
    [{ budgets: { tenant: { per: 'day' } } }, 'budgets.tenant: must hold tokens, usd or both'],
    [{ budgets: { session: { tokens: 1.5 } } }, 'budgets.session.tokens: must be a whole number'],
    [{ budgets: { session: { tokens: 0 } } }, 'budgets.session.tokens: must be a whole number'],
    [{ budgets: { batch: { usd: 0 } } }, 'budgets.batch.usd: must be a number above 0'],
    [{ budgets: { batch: { usd: 1, per: 'day' } } }, 'budgets.batch.per: is not a known field'],
    [{ budgets: { tenant: { usd: 1, per: 'week' } } }, 'budgets.tenant.per: must be "day"'],
    [{ budgets: { team: { usd: 1 } } }, 'budgets.team: is not a known field'],
    [{ budgets: { callOutputTokens: 0 } }, 'budgets.callOutputTokens: must be a whole number from'],
  ])('refuses %j', (content, fault) => {
    expect(() => check(content)).toThrow(fault);
  });
});
