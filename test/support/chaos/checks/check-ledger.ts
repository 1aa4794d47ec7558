import { answerOf } from '../call-answer.js';
import type { ChaosFacts, LedgerLine } from '../facts.js';

/**
 * No call whose answer counts was made again: of a call that ran several times only the last run's answer is in the history, the
 * result says that it is not of the first attempt, and no other answer was ever shown to the model.
 */
export function checkLedger(facts: ChaosFacts): string[] {
  const runs = new Map<string, LedgerLine[]>();
  for (const line of facts.ledger) {
    if (line.kind !== 'start') continue;
    runs.set(line.callKey, [...(runs.get(line.callKey) ?? []), line]);
  }
  const kept = keptRuns(facts);
  const finished = new Set(facts.ledger.filter(({ kind }) => kind === 'end').map(({ run }) => run));
  const attempts = attemptsOf(facts);
  const ofRuns = [...runs].flatMap(([callKey, made]) => {
    const last = made.at(-1)?.run;
    const faults: string[] = [];
    const answer = kept.get(callKey);
    const attempt = attempts.get(callKey);
    if (answer !== undefined && answer !== last)
      faults.push('the history has the answer of a run before the last');
    if (answer !== undefined && !finished.has(answer))
      faults.push('it was answered without an end');
    if (made.length > 1 && attempt !== undefined && attempt < 2)
      faults.push('the result calls it the first attempt');
    const shown = [...(facts.shown.get(callKey) ?? [])];
    if (shown.some((run) => run !== last)) faults.push('an answer that the model had was replaced');
    return faults.map((fault) => `${callKey} ran ${made.length} times: ${fault}`);
  });
  const neverRan = [...kept.keys()]
    .filter((callKey) => !runs.has(callKey))
    .map((callKey) => `${callKey} is answered in the history and never ran`);
  return [...ofRuns, ...neverRan];
}

/** The run whose answer is in the history, by call key. */
function keptRuns(facts: ChaosFacts): Map<string, string> {
  const messages = [...facts.histories.values()].flat();
  return new Map(
    messages.flatMap((message) => {
      const run = message.role === 'tool' ? answerOf(message.content).run : undefined;
      return run === undefined ? [] : [[run.callKey, run.run] as const];
    }),
  );
}

function attemptsOf(facts: ChaosFacts): Map<string, number> {
  return new Map(
    [...facts.results.values()].flatMap(({ turnId, toolCalls }) =>
      toolCalls.map(({ id, attempt }) => [`${turnId}_${id}`, attempt] as const),
    ),
  );
}
