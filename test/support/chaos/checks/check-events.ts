import { isFinal, type ChaosFacts } from '../facts.js';

/** The events of a turn carry a seq that rises by one from 1, and none comes after the final one. */
export function checkEvents(facts: ChaosFacts): string[] {
  return facts.accepted.flatMap(({ turnId, plan }) => {
    const events = facts.events.get(turnId) ?? [];
    const place = events.findIndex(({ seq }, index) => seq !== index + 1);
    const faults = place < 0 ? [] : [`seq ${String(events[place]?.seq)} at place ${place + 1}`];
    const final = events.findIndex(isFinal);
    if (final >= 0 && final < events.length - 1)
      faults.push(`${events.length - 1 - final} events after its end`);
    if (events[0]?.type !== 'turn.queued') faults.push(`begins with ${String(events[0]?.type)}`);
    return faults.map((fault) => `turn ${plan.text} (${turnId}): ${fault}`);
  });
}
