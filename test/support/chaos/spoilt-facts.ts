import type { ChaosFacts, LedgerLine } from './facts.js';
import { goodFacts, sessionId, turnIdOf, type OpenFacts } from './good-facts.js';

/** The two turns of a good run. */
export const [first, second] = [turnIdOf(0), turnIdOf(1)];

/** What a check says of a good run that was spoilt. */
export function told(
  check: (facts: ChaosFacts) => readonly string[],
  spoil: (facts: OpenFacts) => void,
) {
  const facts = goodFacts();
  spoil(facts);
  return check(facts).join('\n');
}

/** A turn's result. */
export const resultIn = (facts: OpenFacts, turnId: string) => {
  const result = facts.results.get(turnId);
  if (result === undefined) throw new Error('no such turn');
  return result;
};

/** Changes what a map has for a key. */
export const change = <T>(map: Map<string, T>, key: string, to: (value: T) => T) => {
  const value = map.get(key);
  if (value === undefined) throw new Error(`nothing at ${key}`);
  map.set(key, to(value));
};

/** Changes the text of the session's history. */
export const history = (facts: OpenFacts, to: (text: string) => string) =>
  change(
    facts.histories,
    sessionId,
    (messages) => JSON.parse(to(JSON.stringify(messages))) as never,
  );

/** Changes the lines of the ledger; undefined takes one out. */
export const lines = (facts: OpenFacts, to: (line: LedgerLine) => LedgerLine | undefined) => {
  facts.ledger = facts.ledger.flatMap((line) => to(line) ?? []);
};
