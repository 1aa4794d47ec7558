import type { BudgetPeriod } from '../config/budget-config.js';

export const dayMs = 86_400_000;
const daySeconds = dayMs / 1000;

/** How long usage and the budgets of tenants and batches are kept after their last call. */
export const usageTtlSeconds = 400 * daySeconds;

/** How long what belongs to a turn or session is kept after a call: its own time, and a day more, since a turn may take one. */
export function withDayToSpare(ttlSeconds: number): number {
  return ttlSeconds + daySeconds;
}

/** The UTC day of a moment (milliseconds since 1970), as `2026-02-28`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The budget period of a moment: `2026-02-28`, `2026-02` or `total`. */
export function periodOf(per: BudgetPeriod, ms: number): string {
  if (per === 'total') return 'total';
  return per === 'day' ? dayOf(ms) : dayOf(ms).slice(0, 7);
}
