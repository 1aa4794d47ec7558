import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../../../src/producer/index.js';
import {
  killTurns,
  type KilledTurns,
  type Outcome,
  type Plan,
} from '../../support/killed-turns.js';
import { putChangingSkills } from '../../support/changing-skills.js';
import { callOf } from '../../support/turns-desk.js';
import { whole } from '../../support/whole-quirks.js';
import { runs } from '../../support/world.js';

const load = callOf('skill_load', { skill_name: 'ledger' });
const started = (callId: string) => (event: TurnEvent) =>
  event.type === 'tool.started' && event.callId === callId;
const completed = (callId: string) => (event: TurnEvent) =>
  event.type === 'tool.completed' && event.callId === callId;

/** A stream that begins an answer and never goes on. */
const half = {
  chunks: [
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta: { role: 'assistant', content: 'half an ' }, finish_reason: null }] })}\n\n`,
    600_000,
  ],
};

const plans: Record<string, Plan> = {
  'in a model call': {
    steps: ({ book, hangs }) => [
      load,
      callOf('write_line', { book, line: 'a' }),
      hangs(callOf('write_line', { book, line: 'b' })),
      { text: 'both are written' },
    ],
  },
  'in a tool call': {
    steps: ({ book, gate }) => [
      load,
      callOf('write_line', { book, line: 'a' }),
      callOf('write_slowly', { book, line: 'b', gate }),
      { text: 'written' },
    ],
    until: started('call_3'),
  },
  'in one of two': {
    steps: ({ book, gate }) => [
      load,
      {
        calls: [
          { name: 'write_slowly', arguments: { book, line: 'slow', gate } },
          { name: 'write_line', arguments: { book, line: 'quick' } },
        ],
      },
      { text: 'written' },
    ],
    until: completed('call_3'),
  },
  'in a command': {
    steps: () => [
      runs('echo 1 >> "$WORK_DIR/chain"; echo one > "$OUTPUT_DIR/one.txt"'),
      runs('echo 2 >> "$WORK_DIR/chain"'),
      runs('echo 3 >> "$WORK_DIR/chain"; sleep 8'),
      runs('cat "$WORK_DIR/chain" > "$OUTPUT_DIR/chain.txt"; cat "$WORK_DIR/chain"'),
      { text: 'the chain is whole' },
    ],
    until: started('call_3'),
  },
  'in a word': {
    steps: () => {
      const replies = [half, { text: 'a whole answer' }];
      return [load, () => replies.shift() ?? {}];
    },
    until: ({ type }) => type === 'message.delta',
  },
  'with its skill changed': {
    steps: ({ hangs }) => [
      callOf('skill_load', { skill_name: 'changing', docs: ['notes.md'] }),
      hangs(callOf('skill_run', { skill: 'changing', command: 'sh say.sh' })),
      { text: 'as it was' },
    ],
  },
  'with its skill removed': {
    steps: ({ hangs }) => [
      callOf('skill_load', { skill_name: 'vanishing' }),
      hangs(callOf('skill_load', { skill_name: 'changing' })),
      { text: 'still there' },
    ],
  },
  'with a declared skill': {
    request: { skills: [{ name: 'changing', docs: '*' }] },
    steps: ({ hangs }) => [callOf('skill_list'), hangs({ text: 'as declared' })],
  },
  'asked to go on': {
    steps: ({ hangs }) => [
      whole({ content: 'the first half ' }, 'length'),
      hangs({ text: 'the second' }),
    ],
  },
  'asked for its form': {
    request: { responseFormat: { type: 'json_object' } },
    steps: ({ hangs }) => [{ text: 'no JSON' }, hangs({ text: '{"n":1}' })],
  },
  'at its last chance': {
    request: { limits: { maxModelCalls: 1 } },
    steps: ({ hangs }) => [load, hangs({ text: 'all I know' })],
  },
  'after an empty reply': {
    steps: ({ hangs }) => {
      let tries = 0;
      const hang = hangs({ text: 'not empty' });
      return [
        (request) => {
          tries += 1;
          if (tries === 1) return { text: ' ' };
          return typeof hang === 'function' ? hang(request) : hang;
        },
      ];
    },
  },
};

describe('a turn whose worker is killed', () => {
  let turns: KilledTurns;
  beforeAll(async () => {
    turns = await killTurns(plans, {
      prepare: (root) => putChangingSkills(root, 'old'),
      between: async (root) => {
        await putChangingSkills(root, 'new');
        await rm(join(root, 'vanishing'), { recursive: true });
      },
    });
  }, 180_000);
  afterAll(() => turns.close());

  /** The turn's last request of the first worker, and the second worker's first. */
  const aroundDeath = ({ requests }: Outcome, at: number) => [requests[at], requests[at + 1]];

  it.each(Object.keys(plans))(
    '%s ends well, its steps published once [event-seq, step-not-twice]',
    (name) => {
      const { result, events } = turns.outcome(name);
      expect(result).toMatchObject({ status: 'completed', attempts: 2 });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      const ids = events.flatMap((event) =>
        event.type === 'tool.completed' ? [event.callId] : [],
      );
      expect(ids.toSorted()).toEqual(result.toolCalls.map(({ id }) => id).toSorted());
      const ends = events.filter(({ type }) => type === 'message.completed');
      expect(ends.length).toBeLessThanOrEqual(result.usage.modelCalls);
      expect(turns.world.model.faults).toEqual([]);
    },
  );

  it('goes on at the very request that was lost, with nothing run again [step-not-twice]', async () => {
    const name = 'in a model call';
    const { result, requests, lines } = turns.outcome(name);
    expect(result.output).toBe('both are written');
    expect(lines.map(([line]) => line)).toEqual(['a', 'b']);
    expect(result.toolCalls.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    expect(result.usage).toMatchObject({ modelCalls: 4, toolCalls: 3 });
    expect(requests[3]).toEqual(requests[2]);
    const alone = await turns.undisturbed(name);
    expect(requests.toSpliced(2, 1)).toEqual(alone.requests);
    expect(result.usage).toEqual(alone.result.usage);
  });

  it('runs a call again that was under way, with the same key, and says so [step-not-twice, call-again]', () => {
    const { result, events, lines } = turns.outcome('in a tool call');
    expect(lines.map(([line]) => line)).toEqual(['a', 'b', 'b']);
    expect(new Set(lines.map(([, key]) => key)).size).toBe(2);
    expect(result.toolCalls.map(({ attempt }) => attempt)).toEqual([1, 1, 2]);
    const starts = events.flatMap((event) =>
      event.type === 'tool.started' ? [[event.callId, event.attempt]] : [],
    );
    expect(starts).toEqual([
      ...[
        ['call_1', 1],
        ['call_2', 1],
        ['call_3', 1],
      ],
      ['call_3', 2],
    ]);
  });

  it('runs of two calls beside each other the one again that was not finished [step-not-twice]', () => {
    const { result, requests, lines } = turns.outcome('in one of two');
    expect(lines.map(([line]) => line).toSorted()).toEqual(['quick', 'slow', 'slow']);
    expect(result.toolCalls.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
    const answers = requests
      .at(-1)
      ?.messages.slice(-2)
      .map(({ content }) => content);
    expect(answers).toEqual(['{"written":"slow"}', '{"written":"quick"}']);
  });

  it('has the files of finished commands, and nothing of the one that was cut short [step-not-twice]', () => {
    const { result } = turns.outcome('in a command');
    expect(result.toolCalls.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 1]);
    expect(result.toolCalls.at(-1)?.result).toMatchObject({ stdout: '1\n2\n3\n' });
    expect(result.artifacts.map(({ name }) => name)).toEqual(['out/one.txt', 'out/chain.txt']);
  });

  it('says that half an answer counts for nothing [deltas-discarded]', () => {
    const { result, events } = turns.outcome('in a word');
    expect(result.output).toBe('a whole answer');
    const [lost] = events.flatMap((event) =>
      event.type === 'message.delta' ? [event.messageId] : [],
    );
    const told = events.filter((event) => 'messageId' in event && event.messageId === lost);
    expect(told.map(({ type }) => type)).toEqual(['message.delta', 'message.discarded']);
    const after = events.findLastIndex(({ type }) => type === 'turn.started');
    expect(events[after + 1]).toMatchObject({ type: 'message.discarded', messageId: lost });
  });

  it('keeps to the skills with which it began, whatever the root holds now [skills-pinned]', () => {
    const changed = turns.outcome('with its skill changed');
    const [before, next] = aroundDeath(changed, 1);
    expect(next).toEqual(before);
    expect(JSON.stringify(next)).toContain('This skill is old');
    expect(JSON.stringify(next)).toContain('Notes: old');
    expect(changed.result.toolCalls.at(-1)?.result).toMatchObject({ stdout: 'old\n' });
    const [lost, again] = aroundDeath(turns.outcome('with its skill removed'), 1);
    expect(again).toEqual(lost);
    // A skill that it had not used is as it is now.
    const last = JSON.stringify(turns.outcome('with its skill removed').requests.at(-1));
    expect(last).toContain('This skill is new');
    const [declared, again2] = aroundDeath(turns.outcome('with a declared skill'), 1);
    expect(again2).toEqual(declared);
  });

  it.each(['asked to go on', 'asked for its form', 'at its last chance', 'after an empty reply'])(
    '%s makes the same request again [step-not-twice]',
    async (name) => {
      const outcome = turns.outcome(name);
      const [before, next] = aroundDeath(outcome, 1);
      expect(next).toEqual(before);
      if (name === 'after an empty reply') return;
      const alone = await turns.undisturbed(name);
      expect(outcome.requests.toSpliced(1, 1)).toEqual(alone.requests);
      expect(outcome.result).toMatchObject({
        output: alone.result.output,
        usage: alone.result.usage,
      });
    },
  );
});
