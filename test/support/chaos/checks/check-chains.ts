import { createHash } from 'node:crypto';
import { answerOf } from '../call-answer.js';
import { bySession, type ChaosFacts } from '../facts.js';

interface Link {
  readonly turn: string;
  readonly call: string;
  readonly random: string;
  readonly head: string;
}

interface ToldLink extends Link {
  /** The whole answer: it may tell of a sandbox that was lost. */
  readonly answer: string;
}

/** Every chain is whole, no link was made twice, and it holds the links of which the history tells, in that order. */
export function checkChains(facts: ChaosFacts): string[] {
  return [...bySession(facts).keys()].flatMap((sessionId) => {
    const { links, faults } = readChain(facts.chains.get(sessionId) ?? '');
    const told = toldLinks(facts, sessionId);
    const all = [...faults, ...twice(links), ...differences(links, told)];
    return all.map((fault) => `session ${sessionId}: ${fault}`);
  });
}

const nameOf = ({ turn, call }: Link) => `the link of call ${call} of turn ${turn}`;

function readChain(text: string): { links: Link[]; faults: string[] } {
  const faults: string[] = [];
  let before = '0'.repeat(64);
  const lines = text.split('\n').filter((line) => line !== '');
  const links = lines.map((line, index) => {
    const [previous = '', turn = '', call = '', random = '', head = ''] = line.split(' ');
    const hash = createHash('sha256').update([previous, turn, call, random].join(' '));
    if (previous !== before || hash.digest('hex') !== head)
      faults.push(`the chain is broken at link ${index + 1}`);
    before = head;
    return { turn, call, random, head };
  });
  return { links, faults };
}

function twice(links: readonly Link[]): string[] {
  const names = links.map(nameOf);
  const again = names.filter((name, index) => names.indexOf(name) < index);
  return again.map((name) => `${name} was made twice`);
}

/** The links that commands were answered, in the order of the history. */
function toldLinks(facts: ChaosFacts, sessionId: string): ToldLink[] {
  return (facts.histories.get(sessionId) ?? []).flatMap((message) => {
    if (message.role !== 'tool') return [];
    const { link } = answerOf(message.content);
    return link === undefined ? [] : [{ ...link, answer: message.content }];
  });
}

function differences(links: readonly Link[], told: readonly ToldLink[]): string[] {
  const at = told.findIndex(({ head }, index) => links[index]?.head !== head);
  const expected = told[at];
  const found = links[at];
  if (expected === undefined) {
    const rest = links.slice(told.length).map(nameOf);
    return rest.length === 0 ? [] : [`${rest.join(', ')} is in the chain, and in no answer`];
  }
  const stands = found === undefined ? 'nothing' : `${nameOf(found)} (${found.random})`;
  const where = `where the history has ${nameOf(expected)} (${expected.random})`;
  const next = told[at + 1]?.answer ?? 'nothing';
  const place = `at place ${at + 1} of ${links.length} in the chain`;
  return [`${stands} is ${place}, ${where}; the next answer was ${next}`];
}
