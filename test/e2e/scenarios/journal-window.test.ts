import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killTurns, type KilledTurns, type Plan } from '../../support/killed-turns.js';
import { callOf } from '../../support/turns-desk.js';
import { runs } from '../../support/world.js';

const load = callOf('skill_load', { skill_name: 'ledger' });
const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');

describe('a turn whose worker is killed, in a small window and with content that is shown once', () => {
  let turns: KilledTurns;
  let summaries = 0;
  const smallWindow: Record<string, Plan> = {
    'shown once': {
      steps: ({ book, hangs }) => [
        load,
        callOf('write_line', { book, line: 'a' }),
        callOf('skill_load', { skill_name: 'ledger' }),
        hangs({ text: 'done' }),
      ],
    },
    'shown and lost': { steps: ({ hangs }) => [load, hangs({ text: 'done' })] },
    'with a summary': {
      before: [1, 2, 3].map((n) => [words(500 + n), `answer ${words(300)}`] as const),
      steps: ({ hangs }) => [callOf('skill_list'), hangs({ text: 'done' })],
    },
    'refused as too long': {
      steps: ({ hangs }) => {
        const limit = 'maximum context length is 2500 tokens, but the input has 99999';
        const replies = [
          { status: 400, body: JSON.stringify({ error: { message: limit } }) },
          callOf('skill_list'),
        ];
        return [
          runs('seq 700'),
          callOf('skill_list'),
          () => replies.shift() ?? callOf('skill_list'),
          hangs({ text: 'done' }),
        ];
      },
    },
  };
  beforeAll(async () => {
    turns = await killTurns(smallWindow, {
      env: {
        SKILLMILL_SKILL_MODE: 'once',
        SKILLMILL_CONTEXT_TOKENS: '6000',
        SKILLMILL_CONTEXT_OVERFLOW: 'summarize',
      },
      onWorld: (world) => {
        const summary = () => {
          summaries += 1;
          return { text: `SUMMARY ${summaries}` };
        };
        for (const beginning of ['User: ', 'Earlier: ']) world.script(beginning, [summary]);
      },
    });
  }, 180_000);
  afterAll(() => turns.close());

  it.each([
    ['shown once', 3],
    ['shown and lost', 1],
    ['with a summary', 1],
    ['refused as too long', 4],
  ])('%s makes the same request again [step-not-twice]', (name, at) => {
    const { result, requests } = turns.outcome(name);
    expect(result).toMatchObject({ status: 'completed', output: 'done', attempts: 2 });
    expect(requests[at]).toBeDefined();
    expect(requests[at + 1]).toEqual(requests[at]);
  });

  it('shows what is shown once in the requests in which it stood [step-not-twice]', () => {
    const shows = turns
      .outcome('shown once')
      .requests.map(({ messages }) => JSON.stringify(messages).includes('[Loaded] ledger'));
    expect(shows).toEqual([false, true, false, true, true]);
  });

  it('makes no summary again [step-not-twice]', () => {
    const { requests } = turns.outcome('with a summary');
    expect(JSON.stringify(requests.at(-1))).toContain(`SUMMARY ${summaries}`);
    expect(JSON.stringify(requests[0])).toContain(`SUMMARY ${summaries}`);
  });
});
