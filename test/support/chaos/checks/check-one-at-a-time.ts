import type { ChaosFacts, LedgerLine } from '../facts.js';

interface Span {
  readonly turnId: string;
  readonly sessionId: string;
  readonly callKey: string;
  readonly pid: number;
  readonly from: number;
  readonly to: number;
}

/** Never two turns of a session at once, nor one turn in two workers: by the times at which the ledger tool ran. */
export function checkOneAtATime(facts: ChaosFacts): string[] {
  const faults: string[] = [];
  const ends = new Map(
    facts.ledger.filter(({ kind }) => kind !== 'start').map((line) => [line.run, line]),
  );
  const running = new Map<string, Span[]>();
  const starts = facts.ledger.filter(({ kind }) => kind === 'start');
  for (const start of starts.sort((a, b) => a.at - b.at)) {
    const to = ends.get(start.run)?.at ?? facts.killed.get(start.pid);
    if (to === undefined) faults.push(`${start.callKey} began and never ended; its worker lived`);
    const span = { ...start, from: start.at, to: to ?? start.at };
    const others = (running.get(span.sessionId) ?? []).filter((other) => other.to > span.from);
    for (const other of others) if (isApart(span, other)) faults.push(overlap(span, other));
    running.set(span.sessionId, [...others, span]);
  }
  return faults;
}

function isApart(one: Pick<LedgerLine, 'turnId' | 'pid'>, other: Span): boolean {
  return one.turnId !== other.turnId || one.pid !== other.pid;
}

function overlap(span: Span, other: Span): string {
  const what = span.turnId === other.turnId ? 'the same turn in another worker' : 'another turn';
  return `session ${span.sessionId}: ${span.callKey} began ${other.to - span.from} ms before ${other.callKey} was over, ${what}`;
}
