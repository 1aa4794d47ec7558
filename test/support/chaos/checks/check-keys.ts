import type { ChaosFacts } from '../facts.js';

/** Keys that stay for ever; BullMQ's own bookkeeping does not grow with the number of turns. */
export const lasting =
  /^skillmill:(open-sessions|deployment|blob-folder-id)$|^\{skillmill-queue\}:turns:(meta|id|events|stalled-check|marker)$/;

/** Redis holds no key without an expiry but the named ones. */
export function checkKeys(facts: ChaosFacts): string[] {
  return facts.lastingKeys.filter((key) => !lasting.test(key)).map((key) => `${key} has no expiry`);
}
