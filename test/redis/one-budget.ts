import type { Redis } from 'ioredis';
import { batchBudgetKeys, usageKeys } from '../../src/shared/redis/keys.js';
import { reserveCallScript } from '../../src/shared/redis/scripts/reserve-call.js';
import { settleCallScript } from '../../src/shared/redis/scripts/settle-call.js';
import { tenant } from './session-line.js';

/** So long that no call is lost by itself in a test; `expire` makes it so. */
const lifetimeMs = 600_000;
export const ttl = 1000;
export const usageTtl = 2000;
export const sessionUsageTtl = 3000;
export const day = '2026-02-28';

export interface Amounts {
  readonly tokens: number;
  readonly microUsd: number;
}

export interface ReserveOptions {
  readonly tokens?: number;
  readonly microUsd?: number;
  readonly serial?: boolean;
  readonly strict?: boolean;
}

/** A call as the scripts know it: what is held for it, and what counts should it be lost. */
export function callOf(id: string, held: Amounts, ifLost: Amounts = held): string {
  return [id, held.tokens, held.microUsd, ifLost.tokens, ifLost.microUsd].join(':');
}

/** One budget and its scripts, called as the product calls them. */
export class OneBudget {
  readonly keys;
  private readonly redis: Redis;

  constructor(redis: Redis, name = 'b1') {
    this.redis = redis;
    this.keys = batchBudgetKeys(tenant, name);
  }

  reserve(call: string, { tokens, microUsd, serial = false, strict = false }: ReserveOptions = {}) {
    return reserveCallScript.run(
      this.redis,
      [this.keys.spent, this.keys.calls],
      [call, lifetimeMs, ttl, serial ? 1 : 0, strict ? 1 : 0, tokens ?? '', microUsd ?? ''],
    );
  }

  settle(call: string, { tokens, microUsd }: Amounts) {
    const args = [call, tokens, microUsd, ttl];
    return settleCallScript.run(this.redis, [this.keys.spent, this.keys.calls], args);
  }

  /** The settlement of a tenant's budget, which counts the usage as well; all keys of a test lie on one server. */
  settleWithUsage(call: string, amounts: Amounts, counts: readonly number[]) {
    const { models, sessions } = usageKeys(tenant, day);
    return settleCallScript.run(
      this.redis,
      [this.keys.spent, this.keys.calls, models, sessions],
      [
        ...[call, amounts.tokens, amounts.microUsd, ttl],
        ...['gpt', 's1 gpt', usageTtl, sessionUsageTtl],
        ...counts,
      ],
    );
  }

  /** The time of these calls is over, by so much. */
  async expire(calls: readonly string[], byMs = 1000): Promise<void> {
    for (const call of calls) {
      await this.redis.zadd(this.keys.calls, 'XX', Date.now() - byMs, call);
    }
  }

  /** What the budget counts, and how many calls are in flight or counted as lost, as of one moment. */
  async state() {
    const answers = await this.redis
      .multi()
      .hgetall(this.keys.spent)
      .zrange(this.keys.calls, 0, -1, 'WITHSCORES')
      .exec();
    const [spent, calls] = (answers ?? []).map(([, answer]) => answer) as [
      Record<string, string>,
      string[],
    ];
    const of = (field: string) => Number(spent[field] ?? 0);
    const scores = calls.filter((_, index) => index % 2 === 1).map(Number);
    return {
      spent: { tokens: of('tokens'), microUsd: of('microUsd') },
      held: { tokens: of('held:tokens'), microUsd: of('held:microUsd') },
      inFlight: scores.filter((score) => score > 0).length,
      lost: scores.filter((score) => score < 0).length,
    };
  }
}
