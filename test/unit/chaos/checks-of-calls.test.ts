import { describe, expect, it } from 'vitest';
import { checkAttempts } from '../../support/chaos/checks/check-attempts.js';
import { checkChains } from '../../support/chaos/checks/check-chains.js';
import { checkLedger } from '../../support/chaos/checks/check-ledger.js';
import { ChainMaker, sessionId, type OpenFacts } from '../../support/chaos/good-facts.js';
import { change, first, lines, resultIn, told } from '../../support/chaos/spoilt-facts.js';

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
    const honest = (facts: OpenFacts) => {
      ranBefore(facts);
      secondAttempt(facts);
    };
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
