import { describe, expect, it } from 'vitest';
import { allChecks } from '../../support/chaos/checks/all-checks.js';
import { checkAttempts } from '../../support/chaos/checks/check-attempts.js';
import { checkChains } from '../../support/chaos/checks/check-chains.js';
import { checkEvents } from '../../support/chaos/checks/check-events.js';
import { checkKeys } from '../../support/chaos/checks/check-keys.js';
import { checkLedger } from '../../support/chaos/checks/check-ledger.js';
import { checkOneAtATime } from '../../support/chaos/checks/check-one-at-a-time.js';
import { checkOrder } from '../../support/chaos/checks/check-order.js';
import { checkResults } from '../../support/chaos/checks/check-results.js';
import type { ChaosFacts, LedgerLine, StreamEntry } from '../../support/chaos/facts.js';
import {
  ChainMaker,
  goodFacts,
  sessionId,
  turnIdOf,
  type OpenFacts,
} from '../../support/chaos/good-facts.js';

const [first, second] = [turnIdOf(0), turnIdOf(1)];

/** What a check says of a good run that was spoilt. */
function told(check: (facts: ChaosFacts) => readonly string[], spoil: (facts: OpenFacts) => void) {
  const facts = goodFacts();
  spoil(facts);
  return check(facts).join('\n');
}

const resultIn = (facts: OpenFacts, turnId: string) => {
  const result = facts.results.get(turnId);
  if (result === undefined) throw new Error('no such turn');
  return result;
};
const change = <T>(map: Map<string, T>, key: string, to: (value: T) => T) => {
  const value = map.get(key);
  if (value === undefined) throw new Error(`nothing at ${key}`);
  map.set(key, to(value));
};
const history = (facts: OpenFacts, to: (text: string) => string) =>
  change(
    facts.histories,
    sessionId,
    (messages) => JSON.parse(to(JSON.stringify(messages))) as never,
  );

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

const lines = (facts: OpenFacts, to: (line: LedgerLine) => LedgerLine | undefined) => {
  facts.ledger = facts.ledger.flatMap((line) => to(line) ?? []);
};

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

describe('the ledger', () => {
  const callKey = `${first}_call_1`;
  /** The call ran once more, before the run that answered. */
  const ranBefore = (facts: OpenFacts) => {
    const [start] = facts.ledger;
    if (start === undefined) throw new Error('an empty ledger');
    facts.ledger = [{ ...start, run: 'earlier', at: 900 }, ...facts.ledger];
  };
  const secondAttempt = (facts: OpenFacts) => {
    const result = resultIn(facts, first);
    const toolCalls = result.toolCalls.map((call) => ({ ...call, attempt: 2 }));
    facts.results.set(first, { ...result, toolCalls });
  };
  it('may hold a call twice that was in flight at a death, if the result says so', () => {
    expect(told(checkLedger, ranBefore)).toContain('the result calls it the first attempt');
    const honest = (facts: OpenFacts) => [ranBefore(facts), secondAttempt(facts)];
    expect(told(checkLedger, honest)).toBe('');
  });
  it('never has a run behind the one that the history tells of', () => {
    const again = (facts: OpenFacts) => {
      secondAttempt(facts);
      const late = facts.ledger
        .slice(0, 2)
        .map((line) => ({ ...line, run: 'later', at: line.at + 99 }));
      facts.ledger = [...facts.ledger, ...late];
    };
    expect(told(checkLedger, again)).toContain('the answer of a run before the last');
  });
  it('never replaces an answer that the model had', () => {
    const replaced = (facts: OpenFacts) => {
      ranBefore(facts);
      secondAttempt(facts);
      facts.shown.set(callKey, new Set(['earlier', 'run of 0-0']));
    };
    expect(told(checkLedger, replaced)).toContain('an answer that the model had was replaced');
  });
  it('knows of every answer', () => {
    const lost = (facts: OpenFacts) =>
      lines(facts, (line) => (line.callKey === callKey ? undefined : line));
    expect(told(checkLedger, lost)).toContain('never ran');
    const endless = (facts: OpenFacts) =>
      lines(facts, (line) => (line.kind === 'end' ? undefined : line));
    expect(told(checkLedger, endless)).toContain('answered without an end');
  });
});

describe('a call that ran again', () => {
  const again = (facts: OpenFacts) =>
    change(facts.events, first, ([queued, started, call, ...rest]) =>
      [queued, started, call, call, ...rest].filter((event) => event !== undefined),
    );
  it('says so', () => {
    expect(told(checkAttempts, again)).toMatch(/call_1 \(ledger\) began 2 times, and the result/);
    const honest = (facts: OpenFacts) => {
      again(facts);
      change(facts.results, first, (result) => ({
        ...result,
        toolCalls: result.toolCalls.map((call) => ({ ...call, attempt: 2 })),
      }));
    };
    expect(told(checkAttempts, honest)).toBe('');
  });
  it('was told of when it began', () => {
    const silent = (facts: OpenFacts) => facts.events.clear();
    expect(told(checkAttempts, silent)).toContain('call_2 (skill_run) has no event');
  });
});

describe('a chain', () => {
  const withChain = (links: [string, string, string][]) => (facts: OpenFacts) => {
    const chain = new ChainMaker();
    for (const link of links) chain.add(...link);
    facts.chains.set(sessionId, chain.text);
  };
  const zero: [string, string, string] = ['0-0', '2', 'random-of-0-0'];
  const one: [string, string, string] = ['0-1', '2', 'random-of-0-1'];
  const spoilt: [string, RegExp, (facts: OpenFacts) => void][] = [
    [
      'that is broken',
      /broken at link 1/,
      (facts) => change(facts.chains, sessionId, (text) => text.replace('random', 'other')),
    ],
    ['with a link made twice', /call 2 of turn 0-0 was made twice/, withChain([zero, zero, one])],
    ['that lacks the last link', /nothing is at place 2/, withChain([zero])],
    ['that is gone', /nothing is at place 1 of 0/, (facts) => facts.chains.clear()],
    ['in another order', /turn 0-1 .* at place 1 of 2/, withChain([one, zero])],
    [
      'with a link of another run than the answered one',
      /\(other\) is at place 2/,
      withChain([zero, ['0-1', '2', 'other']]),
    ],
    [
      'with a link that nobody was told of',
      /call 3 of turn 0-1 is in the chain, and in no answer/,
      withChain([zero, one, ['0-1', '3', 'r']]),
    ],
  ];
  it.each(spoilt)('%s', (_, expected, spoil) => {
    expect(told(checkChains, spoil)).toMatch(expected);
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
