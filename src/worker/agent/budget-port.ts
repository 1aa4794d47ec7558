import type { ModelUsage } from '../model/model.js';

/** The right to make one model call; whoever gets it settles or releases it. */
export interface CallReservation {
  /** The output limit that the call must carry, so that its budgets hold; undefined is none. */
  readonly maxOutputTokens: number | undefined;
  /** Counts what the call used, once. @throws SkillmillError REDIS_UNAVAILABLE */
  settle(usage: ModelUsage): Promise<void>;
  /** The call was not made, or is not billed. After `settle` it does nothing. @throws SkillmillError REDIS_UNAVAILABLE */
  release(): Promise<void>;
}

/** What a turn's model calls need of its budgets. */
export interface BudgetPort {
  /** Is there a budget, so that a call's tokens must be counted before it is made? */
  readonly isLimited: boolean;
  /** Reserves the most that a call may cost; waits for other calls while only they stand in the way. @throws SkillmillError LIMIT_EXCEEDED, REDIS_UNAVAILABLE; the attempt's signal's reason */
  reserve(call: {
    readonly model: string;
    /** 0 will do when there is no budget. */
    readonly inputTokens: number;
    readonly maxOutputTokens: number | undefined;
  }): Promise<CallReservation>;
}
