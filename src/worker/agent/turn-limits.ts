import type { DefaultLimits } from '../../shared/config/config.js';
import type { TurnLimits, Usage } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { ModelUsage } from '../model/model.js';

/** A turn's budgets as one object: what is spent is counted here, and asking for more than is left throws. */
export class LimitKeeper {
  readonly turnTimeoutMs: number;
  private readonly maxModelCalls: number;
  private readonly maxToolCalls: number;
  private readonly maxTotalTokens: number;
  private readonly grantsLastChance: boolean;
  private isEstimated = false;
  private spent = {
    modelCalls: 0,
    toolCalls: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
  };

  constructor(asked: TurnLimits, defaults: DefaultLimits) {
    this.turnTimeoutMs = asked.turnTimeoutMs ?? defaults.turnTimeoutMs;
    this.maxModelCalls = asked.maxModelCalls ?? defaults.maxModelCalls;
    this.maxToolCalls = asked.maxToolCalls ?? defaults.maxToolCalls;
    this.maxTotalTokens = asked.maxTotalTokens ?? Infinity;
    this.grantsLastChance = defaults.lastChance;
  }

  get usage(): Usage {
    return this.isEstimated ? { ...this.spent, estimated: true } : { ...this.spent };
  }

  /** Are the model calls used up, and one more without tools left to answer with what there is? */
  get isLastChance(): boolean {
    return this.grantsLastChance && this.spent.modelCalls >= this.maxModelCalls;
  }

  /** @throws SkillmillError LIMIT_EXCEEDED when no model call is left, or no token for one */
  beginModelCall(isLastChance = false): void {
    // The last chance is one call, and one more when that holds nothing.
    const maxCalls = this.maxModelCalls + (isLastChance ? 2 : 0);
    if (this.spent.modelCalls >= maxCalls) {
      throw limitExceeded('maxModelCalls', `its ${this.maxModelCalls} model calls`);
    }
    const tokens = this.spent.inputTokens + this.spent.outputTokens;
    if (tokens >= this.maxTotalTokens) {
      throw limitExceeded('maxTotalTokens', `its ${this.maxTotalTokens} tokens (used: ${tokens})`);
    }
    this.spent.modelCalls += 1;
  }

  /** @throws SkillmillError LIMIT_EXCEEDED when no tool call is left */
  beginToolCall(): void {
    if (this.spent.toolCalls >= this.maxToolCalls) {
      throw limitExceeded('maxToolCalls', `its ${this.maxToolCalls} tool calls`);
    }
    this.spent.toolCalls += 1;
  }

  addTokens(usage: ModelUsage): void {
    this.isEstimated ||= usage.estimated === true;
    this.spent.inputTokens += usage.inputTokens;
    this.spent.cachedInputTokens += usage.cachedInputTokens;
    this.spent.outputTokens += usage.outputTokens;
  }
}

/** The error of a turn that came to the end of a limit. */
export function limitExceeded(limit: keyof TurnLimits, what: string): SkillmillError {
  return new SkillmillError(
    'LIMIT_EXCEEDED',
    `The turn used up ${what}. Raise limits.${limit} if it needs more.`,
    { details: { limit } },
  );
}
