import { describe, expect, it } from 'vitest';
import { allChecks } from '../../support/chaos/checks/all-checks.js';
import { checkEvents } from '../../support/chaos/checks/check-events.js';
import { checkKeys } from '../../support/chaos/checks/check-keys.js';
import { checkOneAtATime } from '../../support/chaos/checks/check-one-at-a-time.js';
import { checkOrder } from '../../support/chaos/checks/check-order.js';
import { checkResults } from '../../support/chaos/checks/check-results.js';
import type { LedgerLine, StreamEntry } from '../../support/chaos/facts.js';
import { goodFacts, sessionId, type OpenFacts } from '../../support/chaos/good-facts.js';
import { change, first, history, lines, second, told } from '../../support/chaos/spoilt-facts.js';

it('find nothing against a run that went well', () => {
  const facts = goodFacts();
  for (const [name, check] of Object.entries(allChecks)) expect(check(facts), name).toEqual([]);
});

describe('one result', () => {
  const spoilt: [string, RegExp, (facts: OpenFacts) => void][] = [
    ['none', /0-1 .* has no result/, (facts) => facts.results.delete(second)],
    [
      'two final events',
      /0-0 .* has 2 final events/,
      (facts) => change(facts.events, first, (events) => [...events, ...events.slice(-1)]),
    ],
    [
      'another one in the stream',
      /two different results/,
      (facts) => change(facts.results, first, (result) => ({ ...result, attempts: 2 })),
    ],
    [
      'a failure',
      /failed: MODEL_UNAVAILABLE gone/,
      (facts) => {
        const error = { code: 'MODEL_UNAVAILABLE', message: 'gone', retryable: true };
        change(facts.results, first, (result) => ({ ...result, status: 'failed' as const, error }));
      },
    ],
    [
      'a cancel that nobody asked for',
      /nobody asked for it/,
      (facts) =>
        change(facts.results, first, (result) => ({ ...result, status: 'cancelled' as const })),
    ],
    [
      'a confirmed cancel that was not kept',
      /is completed though its cancel was confirmed/,
      (facts) => {
        facts.accepted = facts.accepted.map((turn) => ({ ...turn, cancel: 'cancelled' }));
      },
    ],
    [
      'twice in the history',
      /stands 2 times in the history/,
      (facts) => change(facts.histories, sessionId, (messages) => [...messages, ...messages]),
    ],
    [
      'a planned call without an answer',
      /has 0 good answers of its call 2 \(link\)/,
      (facts) =>
        history(facts, (text) => text.replaceAll('\\"exit_code\\":0', '\\"exit_code\\":1')),
    ],
    [
      'another answer of the model',
      /answered "gave up 0-0"/,
      (facts) => change(facts.results, first, (result) => ({ ...result, output: 'gave up 0-0' })),
    ],
  ];
  it.each(spoilt)('%s', (_, expected, spoil) => {
    expect(told(checkResults, spoil)).toMatch(expected);
  });
});

describe('the order of a session', () => {
  it('is that of the history', () => {
    const swap = (facts: OpenFacts) =>
      change(facts.histories, sessionId, (messages) => [...messages].reverse());
    expect(told(checkOrder, swap)).toContain('the history has 0-1 0-0 where');
  });
  it('lets no turn stand between another’s messages', () => {
    const mix = (facts: OpenFacts) =>
      change(facts.histories, sessionId, ([head, ...rest]) =>
        head === undefined ? [] : [...rest, head],
      );
    expect(told(checkOrder, mix)).toContain('the history has 0-0 0-1 0-0 where');
  });
  it('is that of the ends', () => {
    const late = (facts: OpenFacts) =>
      change(facts.events, first, (events) => events.map((event) => ({ ...event, at: 9000 })));
    expect(told(checkOrder, late)).toMatch(/0-1 ended \d+ ms before 0-0/);
  });
  it('does not count a turn that was cancelled while it waited', () => {
    const cancelled = (facts: OpenFacts) => {
      const at = 5;
      const events = ['turn.queued', 'turn.cancelled'].map((type, n) => ({ seq: n + 1, at, type }));
      facts.events.set(second, events);
      change(facts.histories, sessionId, (messages) => [...messages].reverse());
    };
    expect(told(checkOrder, cancelled)).toBe('');
  });
});

describe('one turn at a time', () => {
  const early = (turnId: string) => (line: LedgerLine) =>
    line.turnId === turnId && line.kind === 'start' ? { ...line, at: 1010 } : line;
  it('sees another turn that begins too early', () => {
    expect(told(checkOneAtATime, (facts) => lines(facts, early(second)))).toContain('another turn');
  });
  it('sees a turn that runs in two workers, not calls beside each other in one', () => {
    const beside = (pid: number) => (facts: OpenFacts) =>
      lines(facts, (line) => ({
        ...early(second)(line),
        turnId: first,
        pid: line.turnId === second ? pid : 7,
      }));
    expect(told(checkOneAtATime, beside(8))).toContain('the same turn in another worker');
    expect(told(checkOneAtATime, beside(7))).toBe('');
  });
  it('ends a span at the death of its worker, and at nothing else', () => {
    const cut = (facts: OpenFacts) =>
      lines(facts, (line) => (line.turnId === first && line.kind === 'end' ? undefined : line));
    expect(told(checkOneAtATime, cut)).toContain('never ended; its worker lived');
    const killed = (at: number) => (facts: OpenFacts) => {
      cut(facts);
      facts.killed.set(7, at);
    };
    expect(told(checkOneAtATime, killed(1020))).toBe('');
    expect(told(checkOneAtATime, killed(2030))).toContain('another turn');
  });
});

describe('the stream of a turn', () => {
  const spoilt: [string, string, (events: readonly StreamEntry[]) => StreamEntry[]][] = [
    ['with a gap', 'seq 3 at place 2', ([head, , ...rest]) => (head ? [head, ...rest] : [])],
    [
      'with a seq twice',
      'seq 1 at place 2',
      ([head, ...rest]) => (head ? [head, head, ...rest] : []),
    ],
    ['without its beginning', 'begins with turn.started', (events) => events.slice(1)],
    [
      'that goes on after its end',
      '1 events after its end',
      (events) => [...events, { seq: 6, at: 9, type: 'tool.completed' }],
    ],
  ];
  it.each(spoilt)('%s', (_, expected, to) => {
    expect(told(checkEvents, (facts) => change(facts.events, first, to))).toContain(expected);
  });
});

it('a key without an expiry is told of', () => {
  const spoil = (facts: OpenFacts) => {
    facts.lastingKeys = ['skillmill:deployment', 'skillmill:{default:x}:line'];
  };
  expect(told(checkKeys, spoil)).toBe('skillmill:{default:x}:line has no expiry');
});
