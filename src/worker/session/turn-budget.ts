import type { Usage } from '../../shared/contracts/index.js';
import type { BudgetedTurn } from '../../shared/usage/budget-scopes.js';
import type { LedgerCall, UsageLedger } from '../../shared/usage/usage-ledger.js';
import type { BudgetPort, CallReservation } from '../agent/budget-port.js';

/** What calls have cost, and how many had a price. */
export interface TurnCost {
  readonly costUsd: number;
  readonly priced: number;
  readonly unpriced: number;
}

/** The budgets of one attempt of a turn, and what its calls have cost. */
export class TurnBudget implements BudgetPort {
  readonly isLimited: boolean;
  private readonly ledger: Pick<UsageLedger, 'reserve'>;
  private readonly turn: BudgetedTurn;
  private readonly signal: AbortSignal;
  private costUsd = 0;
  private priced = 0;
  private unpriced = 0;

  constructor(
    ledger: Pick<UsageLedger, 'reserve' | 'isLimited'>,
    turn: BudgetedTurn,
    signal: AbortSignal,
  ) {
    this.ledger = ledger;
    this.turn = turn;
    this.signal = signal;
    this.isLimited = ledger.isLimited(turn);
  }

  /** What the attempt's calls have cost; nothing unless each of them had a price. */
  get cost(): Pick<Usage, 'costUsd'> {
    if (this.priced === 0 || this.unpriced > 0) return {};
    // Sums of binary fractions carry dust below the micro-USD that are counted.
    return { costUsd: Number(this.costUsd.toFixed(6)) };
  }

  /** What the calls so far have cost, for the journal. */
  get soFar(): TurnCost {
    const { costUsd, priced, unpriced } = this;
    return { costUsd, priced, unpriced };
  }

  /** Takes over what the calls of an attempt before have cost. */
  restore({ costUsd, priced, unpriced }: TurnCost): void {
    this.costUsd = costUsd;
    this.priced = priced;
    this.unpriced = unpriced;
  }

  async reserve(call: LedgerCall): Promise<CallReservation> {
    const reservation = await this.ledger.reserve(this.turn, call, this.signal);
    let isSettled = false;
    return {
      maxOutputTokens: reservation.maxOutputTokens,
      settle: async (usage) => {
        const costUsd = await reservation.settle(usage);
        if (!isSettled) this.add(costUsd);
        isSettled = true;
      },
      release: () => reservation.release(),
    };
  }

  private add(costUsd: number | undefined): void {
    if (costUsd === undefined) this.unpriced += 1;
    else this.priced += 1;
    this.costUsd += costUsd ?? 0;
  }
}
