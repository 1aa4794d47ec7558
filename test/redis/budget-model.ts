import type { Amounts, OneBudget } from './one-budget.js';
import { callOf } from './one-budget.js';

interface ModelCall {
  readonly call: string;
  readonly held: Amounts;
  readonly ifLost: Amounts;
  state: 'in_flight' | 'overdue' | 'lost' | 'ended';
}

const nothing: Amounts = { tokens: 0, microUsd: 0 };
const plus = (a: Amounts, b: Amounts, sign = 1): Amounts => ({
  tokens: a.tokens + sign * b.tokens,
  microUsd: a.microUsd + sign * b.microUsd,
});
const sumOf = (list: readonly Amounts[]): Amounts => list.reduce((a, b) => plus(a, b), nothing);

/** What a budget is thought to be, without Redis. */
export class BudgetModel {
  readonly limits: Partial<Amounts>;
  readonly calls: ModelCall[] = [];
  spent = nothing;
  /** The dearest call that was made. */
  dearest = nothing;
  /** What lost calls had cost beyond what was counted for them; only a late settlement tells. */
  surplus = nothing;

  constructor(limits: Partial<Amounts>) {
    this.limits = limits;
  }

  of(...states: ModelCall['state'][]): ModelCall[] {
    return this.calls.filter(({ state }) => states.includes(state));
  }

  get held(): Amounts {
    return sumOf(this.of('in_flight', 'overdue').map(({ held }) => held));
  }

  /** Those whose time is over count as spent. */
  sweep(): void {
    for (const call of this.of('overdue')) {
      this.spent = plus(this.spent, call.ifLost);
      call.state = 'lost';
    }
  }

  admit(held: Amounts, strict: boolean): 'reserved' | 'busy' | 'spent' {
    this.sweep();
    const units = ['tokens', 'microUsd'] as const;
    const limited = units.flatMap((unit) => {
      const limit = this.limits[unit];
      return limit === undefined ? [] : [{ unit, limit }];
    });
    if (limited.some(({ unit, limit }) => this.spent[unit] >= limit)) return 'spent';
    const taken = plus(this.spent, this.held);
    const fits = limited.every(({ unit, limit }) => taken[unit] + held[unit] <= limit);
    if (fits) return 'reserved';
    return strict || this.of('in_flight').length > 0 ? 'busy' : 'reserved';
  }
}

/** The n-th of a list that may be shorter; the list is not empty. */
function pick<T>(list: readonly T[], n: number): T {
  const found = list[n % list.length];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

/** What an act is done with. */
export interface Choice {
  readonly n: number;
  /** Of what is held, what the call did cost. */
  readonly share: number;
  readonly held: Amounts;
  readonly strict: boolean;
}

type Act = (
  model: BudgetModel,
  budget: OneBudget,
  choice: Choice,
) => Promise<{ replied: unknown; expected: unknown }>;

/** The next act on a budget: what the script answers, and what the model says it must answer. */
export const acts = {
  reserve: async (model, budget, { held, share, strict }) => {
    const ifLost = scaled(held, share);
    const call = callOf(`c${model.calls.length}`, held, ifLost);
    const expected = model.admit(held, strict);
    const { outcome } = await budget.reserve(call, { ...model.limits, strict });
    if (expected === 'reserved') model.calls.push({ call, held, ifLost, state: 'in_flight' });
    return { replied: outcome, expected };
  },

  reserveAgain: async (model, budget, { n }) => {
    const known = model.of('in_flight', 'overdue', 'lost');
    if (known.length === 0) return { replied: undefined, expected: undefined };
    const { outcome } = await budget.reserve(pick(known, n).call, model.limits);
    return { replied: outcome, expected: 'reserved' };
  },

  settle: (model, budget, { n, share }) => end(model, budget, n, share),

  release: (model, budget, { n }) => end(model, budget, n, 0),

  expire: async (model, budget, { n }) => {
    const open = model.of('in_flight');
    if (open.length === 0) return { replied: undefined, expected: undefined };
    const call = pick(open, n);
    call.state = 'overdue';
    await budget.expire([call.call]);
    return { replied: undefined, expected: undefined };
  },
} satisfies Record<string, Act>;

async function end(model: BudgetModel, budget: OneBudget, n: number, share: number) {
  if (model.calls.length === 0) return { replied: undefined, expected: undefined };
  const call = pick(model.calls, n);
  const cost = scaled(call.held, share);
  const replied = await budget.settle(call.call, cost);
  if (call.state === 'ended') return { replied, expected: 0 };
  model.spent = plus(model.spent, cost);
  if (call.state === 'lost') {
    model.spent = plus(model.spent, call.ifLost, -1);
    const surplus = plus(cost, call.ifLost, -1);
    model.surplus = plus(model.surplus, {
      tokens: Math.max(0, surplus.tokens),
      microUsd: Math.max(0, surplus.microUsd),
    });
  }
  call.state = 'ended';
  model.dearest = {
    tokens: Math.max(model.dearest.tokens, cost.tokens),
    microUsd: Math.max(model.dearest.microUsd, cost.microUsd),
  };
  return { replied, expected: 1 };
}

function scaled({ tokens, microUsd }: Amounts, share: number): Amounts {
  return { tokens: Math.floor(tokens * share), microUsd: Math.floor(microUsd * share) };
}
