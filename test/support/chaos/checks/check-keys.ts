import type { ChaosFacts } from '../facts.js';

/** Keys that stay for ever; BullMQ's own bookkeeping does not grow with the number of turns. */
export const lasting =
  /^skillmill:(open-sessions|deployment|blob-folder-id)$|^\{skillmill-queue\}:(turns|schedules):(meta|id|events|stalled-check|marker)$/;

/** Redis holds no key without an expiry but the named ones, once no turn is open: one without a result keeps its own. */
export function checkKeys(facts: ChaosFacts): string[] {
  if (facts.accepted.some(({ turnId }) => !facts.results.has(turnId))) return [];
  return facts.lastingKeys.filter((key) => !lasting.test(key)).map((key) => `${key} has no expiry`);
}
