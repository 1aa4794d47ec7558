import type { ChaosFacts } from '../facts.js';

/** A call that began more than once, as the turn's stream tells, is of a later attempt than the first in the result: commands too. */
export function checkAttempts(facts: ChaosFacts): string[] {
  return [...facts.results.values()].flatMap(({ turnId, toolCalls }) => {
    const begun = (facts.events.get(turnId) ?? []).filter(({ type }) => type === 'tool.started');
    return toolCalls.flatMap(({ id, name, attempt }) => {
      const times = begun.filter(({ callId }) => callId === id).length;
      if (times === 0) return [`${turnId}_${id} (${name}) has no event that it began`];
      return times > 1 && attempt < 2
        ? [
            `${turnId}_${id} (${name}) began ${times} times, and the result calls it the first attempt`,
          ]
        : [];
    });
  });
}
