import { describe, expect, it } from 'vitest';
import { defaultTenant, makeTurnId, sessionIdSchema } from '../../../src/shared/contracts/index.js';
import { TurnBudget } from '../../../src/worker/session/turn-budget.js';

const sessionId = sessionIdSchema.parse('s');
const turn = { tenant: defaultTenant, sessionId, turnId: makeTurnId(defaultTenant, sessionId) };
const call = { model: 'gpt', inputTokens: 1, maxOutputTokens: undefined };
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };

/** A turn whose calls cost this much, one after another. */
async function costOf(...costs: (number | undefined)[]) {
  const left = [...costs];
  const ledger = {
    isLimited: () => false,
    reserve: () =>
      Promise.resolve({
        maxOutputTokens: undefined,
        settle: () => Promise.resolve(left.shift()),
        release: () => Promise.resolve(),
      }),
  };
  const budget = new TurnBudget(ledger, turn, new AbortController().signal);
  for (let n = 0; n < costs.length; n += 1) await (await budget.reserve(call)).settle(usage);
  return budget.cost;
}

describe('what a turn’s calls cost', () => {
  it('is the sum in whole micro-USD', async () => {
    expect(await costOf(0.1, 0.2, 0.000001)).toEqual({ costUsd: 0.300001 });
  });

  it('is known only when every call had a price', async () => {
    expect(await costOf(0.1, undefined)).toEqual({});
    expect(await costOf()).toEqual({});
    expect(await costOf(0)).toEqual({ costUsd: 0 });
  });
});
