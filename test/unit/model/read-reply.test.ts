import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { readReply } from '../../../src/worker/model/read-reply.js';

/** A completion with this message, and whatever else is given. */
const completion = (message: object, more: object = {}) => ({
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message } }],
  ...more,
});
const call = (id: unknown, args: unknown, name = 'skill_list') => ({
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { name, ...(args === undefined ? {} : { arguments: args }) },
});
const callsOf = (...calls: object[]) =>
  readReply(completion({ content: null, tool_calls: calls })).toolCalls;

describe('text', () => {
  it.each([
    ['a text', { content: 'hi' }, 'hi'],
    ['null', { content: null }, ''],
    ['absent', {}, ''],
    [
      'parts',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'ab',
    ],
    ['odd parts', { content: [{ type: 'image' }, null, 5, { text: 7 }, { text: 'a' }] }, 'a'],
    ['no parts', { content: [] }, ''],
    ['a refusal', { content: null, refusal: 'I may not' }, 'I may not'],
    ['a refusal beside an empty text', { content: '', refusal: 'I may not' }, 'I may not'],
  ])('is read from %s', (_, message, text) => {
    expect(readReply(completion(message))).toMatchObject({ text, toolCalls: [] });
  });

  it('never holds the reasoning, which is kept apart', () => {
    const reply = readReply(completion({ content: 'a', reasoning_content: 'r1' }));
    expect([reply.text, reply.reasoning]).toEqual(['a', 'r1']);
    for (const reasoning of ['', null]) {
      expect(
        readReply(completion({ content: 'a', reasoning_content: reasoning })),
      ).not.toHaveProperty('reasoning');
    }
  });
});

describe('arguments', () => {
  it.each([
    ['as JSON text', '{"a":1}', '{"a":1}'],
    ['as text that is no JSON', '{"a":', '{"a":'],
    ['as an object', { a: 1 }, '{"a":1}'],
    ['as an empty text', '', '{}'],
    ['as blanks', '  \n', '{}'],
    ['as null', null, '{}'],
    ['as a list', [1], '[1]'],
  ])('that come %s are text', (_, given, text) => {
    expect(callsOf(call('c1', given))).toEqual([{ id: 'c1', name: 'skill_list', arguments: text }]);
  });
});

it('arguments that do not come at all are none', () => {
  expect(callsOf(call('c1', undefined))).toEqual([
    { id: 'c1', name: 'skill_list', arguments: '{}' },
  ]);
});

describe('ids', () => {
  it('go through unchanged when they are distinct, however odd', () => {
    const odd = ['skill_run:0', 'x'.repeat(200), 'ä ü/{}', '__proto__'];
    expect(callsOf(...odd.map((id) => call(id, '{}'))).map((made) => made.id)).toEqual(odd);
  });

  it.each([
    ['equal', ['a', 'a', 'a']],
    ['absent', [undefined, undefined]],
    ['null', [null, null]],
    ['empty', ['', '']],
    [
      'like those that are made',
      ['a', 'a', 'a_2', 'a_2', undefined, 'call_4', 'call_0', undefined],
    ],
  ])('that are %s are made distinct, in the order of the calls', (_, ids) => {
    const calls = callsOf(...ids.map((id, n) => call(id, `{"n":${n}}`)));
    expect(new Set(calls.map((made) => made.id)).size).toBe(ids.length);
    expect(calls.map((made) => made.arguments)).toEqual(ids.map((_id, n) => `{"n":${n}}`));
    for (const made of calls) expect(made.id).not.toBe('');
  });
});

describe('calls', () => {
  it.each(['stop', 'other', 'length', null, undefined, 'tool_calls'])(
    'count whatever finish_reason says: %j',
    (reason) => {
      const choice = {
        finish_reason: reason,
        message: { tool_calls: [call('a', ''), call('b', '')] },
      };
      expect(readReply({ choices: [choice] }).toolCalls).toHaveLength(2);
    },
  );

  it.each([{ tool_calls: [] }, { tool_calls: null }, {}])('may be none: %j', (message) => {
    const choice = { finish_reason: 'tool_calls', message: { content: 'hi', ...message } };
    expect(readReply({ choices: [choice] })).toMatchObject({ text: 'hi', toolCalls: [] });
  });
});

describe('usage', () => {
  const none = undefined;
  it.each([
    ['absent', undefined, none],
    ['null', null, none],
    ['a text', 'many', none],
    ['empty', {}, none],
    ['odd', { prompt_tokens: '5', completion_tokens: -1, prompt_tokens_details: 'x' }, none],
    [
      'whole',
      { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } },
      { inputTokens: 5, cachedInputTokens: 3, outputTokens: 2 },
    ],
    [
      'without details',
      { prompt_tokens: 5, completion_tokens: null, prompt_tokens_details: null },
      { inputTokens: 5, cachedInputTokens: 0, outputTokens: 0 },
    ],
  ])('that is %s loses no reply', (_, usage, expected) => {
    expect(readReply(completion({ content: 'hi' }, { usage }))).toMatchObject({
      text: 'hi',
      usage: expected,
    });
  });

  it.each([1.5, 1e20])('of %d tokens is a whole, safe number', (tokens) => {
    const { usage } = readReply(
      completion({ content: 'hi' }, { usage: { prompt_tokens: tokens } }),
    );
    expect(usage === undefined || Number.isSafeInteger(usage.inputTokens)).toBe(true);
  });
});

describe('what is no chat completion', () => {
  it.each([
    ['an HTML page', ' <!doctype html><html>', 'an HTML page'],
    ['plain text', 'upstream error', 'plain text'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'object'],
    ['an empty object', {}, 'no keys'],
    ['no choices', { id: 'x', choices: [] }, 'id, choices'],
    ['an error', { error: { message: 'x' } }, 'error'],
    ['a choice without a message', { choices: [{}] }, 'choices'],
  ])('is MODEL_PROTOCOL with what it was: %s', (_, answer, seen) => {
    expect(() => readReply(answer)).toThrow(SkillmillError);
    expect(() => readReply(answer)).toThrow(seen);
    expect(() => readReply(answer)).toThrow(expect.objectContaining({ code: 'MODEL_PROTOCOL' }));
  });
});
