import { bySession, isFinal, type AcceptedTurn, type ChaosFacts } from '../facts.js';

/**
 * The results of a session come in the order in which its turns were enqueued. A turn that was cancelled while it waited is over
 * at that moment, so it has no place in this order.
 */
export function checkOrder(facts: ChaosFacts): string[] {
  return [...bySession(facts)].flatMap(([sessionId, turns]) => {
    const ran = turns.filter((turn) => hasRun(facts, turn));
    return [...historyFaults(facts, sessionId, ran), ...timeFaults(facts, ran)].map(
      (fault) => `session ${sessionId}: ${fault}`,
    );
  });
}

function hasRun(facts: ChaosFacts, { turnId }: AcceptedTurn): boolean {
  const events = facts.events.get(turnId) ?? [];
  return facts.results.has(turnId) && events.some(({ type }) => type === 'turn.started');
}

function historyFaults(
  facts: ChaosFacts,
  sessionId: string,
  ran: readonly AcceptedTurn[],
): string[] {
  const names = new Map(ran.map(({ turnId, plan }) => [turnId, plan.text]));
  const history = (facts.histories.get(sessionId) ?? []).flatMap(
    ({ turnId }) => names.get(turnId) ?? [],
  );
  // A turn whose messages lie in two places stands twice in this list.
  const order = history.filter((name, index) => name !== history[index - 1]).join(' ');
  const expected = [...names.values()].join(' ');
  return order === expected ? [] : [`the history has ${order} where it should have ${expected}`];
}

function timeFaults(facts: ChaosFacts, ran: readonly AcceptedTurn[]): string[] {
  const ends = ran.map(({ turnId, plan }) => ({
    name: plan.text,
    at: facts.events.get(turnId)?.find(isFinal)?.at ?? 0,
  }));
  return ends.flatMap(({ name, at }, index) => {
    const before = ends[index - 1];
    return before !== undefined && before.at > at
      ? [`${name} ended ${before.at - at} ms before ${before.name}`]
      : [];
  });
}
