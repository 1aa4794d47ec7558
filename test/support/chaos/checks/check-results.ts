import { isDeepStrictEqual } from 'node:util';
import { answerOf } from '../call-answer.js';
import { isFinal, type AcceptedTurn, type ChaosFacts } from '../facts.js';

/** Every accepted turn has exactly one result: in its record, in its stream and in the history of its session. */
export function checkResults(facts: ChaosFacts): string[] {
  return facts.accepted.flatMap((turn) =>
    [...resultFaults(facts, turn), ...historyFaults(facts, turn)].map(
      (fault) => `turn ${turn.plan.text} (${turn.turnId}) ${fault}`,
    ),
  );
}

function resultFaults(facts: ChaosFacts, { turnId, plan, cancel }: AcceptedTurn): string[] {
  const result = facts.results.get(turnId);
  if (result === undefined) return ['has no result'];
  const faults: string[] = [];
  const finals = (facts.events.get(turnId) ?? []).filter(isFinal);
  if (finals.length !== 1) faults.push(`has ${finals.length} final events`);
  for (const final of finals) {
    if (final.type !== `turn.${result.status}`) faults.push(`ends its stream with ${final.type}`);
    if (!isDeepStrictEqual(final.result, result)) faults.push('has two different results');
  }
  if (result.status === 'completed' && result.output !== `done ${plan.text}`)
    faults.push(`answered ${JSON.stringify(result.output)}`);
  if (result.status === 'failed')
    faults.push(`failed: ${result.error?.code ?? ''} ${result.error?.message ?? ''}`);
  if (result.status === 'cancelled' && cancel === undefined)
    faults.push('was cancelled, and nobody asked for it');
  if (cancel === 'cancelled' && result.status !== 'cancelled')
    faults.push(`is ${result.status} though its cancel was confirmed`);
  return faults;
}

function historyFaults(facts: ChaosFacts, { turnId, plan }: AcceptedTurn): string[] {
  const result = facts.results.get(turnId);
  if (result === undefined) return [];
  const messages = (facts.histories.get(plan.sessionId) ?? []).filter(
    (message) => message.turnId === turnId,
  );
  const faults: string[] = [];
  const asked = messages.filter(({ role }) => role === 'user').length;
  if (asked !== 1) faults.push(`stands ${asked} times in the history`);
  if (result.status !== 'completed') return faults;
  for (const { n, tool } of plan.steps.flat()) {
    const good = messages.filter(
      (message) =>
        message.role === 'tool' &&
        message.toolCallId.startsWith(`${plan.text}_${n}_`) &&
        answerOf(message.content).isGood,
    );
    if (good.length !== 1)
      faults.push(`has ${good.length} good answers of its call ${n} (${tool}) in the history`);
  }
  return faults;
}
