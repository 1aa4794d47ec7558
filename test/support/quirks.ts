import type { Reply } from '../../examples/scripted-model.js';

/** One thing that a server does differently, and how a turn with it goes. */
export interface Quirk {
  readonly name: string;
  /** The reply to the first request; the second is answered with `done`. */
  readonly reply: Reply;
  /** What goes on in the turn: a call of skill_list, an answer, or a call made again. */
  readonly then: 'calls' | 'answers' | 'again';
  /** Text of the turn's answer; `done` when it is not given. */
  readonly output?: string;
  /** What the assistant message of the next request must hold. */
  readonly sentBack?: Readonly<Record<string, unknown>>;
  /** Is the usage counted by a tokenizer? */
  readonly estimated?: boolean;
}

export const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' };
export const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** A chunk of a stream, as bytes. */
export const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
const done = 'data: [DONE]\n\n';
const usageChunk = `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`;
const callDelta = (fields: object) => chunk({ tool_calls: [fields] });
export const fn = (args: unknown) => ({ name: 'skill_list', arguments: args });
const ends = [chunk({}, 'tool_calls'), usageChunk, done];

/** `text` in pieces of `size` bytes, each a write of its own. */
const inPieces = (texts: string[], size: number) =>
  Array.from({ length: Math.ceil(Buffer.byteLength(texts.join('')) / size) }, (_, nth) =>
    Buffer.from(texts.join('')).subarray(nth * size, (nth + 1) * size),
  );

/** How streams differ. */
export const streamQuirks: readonly Quirk[] = [
  {
    name: 'chunks split anywhere, and characters within them',
    reply: { chunks: inPieces([chunk({ content: 'ünï 🚀' }), chunk({}, 'stop'), done], 3) },
    then: 'answers',
    output: 'ünï 🚀',
    estimated: true,
  },
  {
    name: 'CRLF line ends, comments and a byte order mark',
    reply: {
      chunks: [
        `\uFEFF: PROCESSING\r\n\r\n`,
        chunk({ content: 'hi' }).replaceAll('\n', '\r\n'),
        ': still here\n\n',
        chunk({}, 'stop'),
        done,
      ],
    },
    then: 'answers',
    output: 'hi',
    estimated: true,
  },
  {
    name: 'no [DONE], and no blank line at the end',
    reply: { chunks: [chunk({ content: 'hi' }), chunk({}, 'stop').trimEnd()] },
    then: 'answers',
    output: 'hi',
    estimated: true,
  },
  {
    name: 'a usage chunk with empty choices, and null choices',
    reply: {
      chunks: [
        chunk({ content: 'hi' }),
        chunk({}, 'stop'),
        usageChunk,
        'data: {"choices":null}\n\n',
        done,
      ],
    },
    then: 'answers',
    output: 'hi',
  },
  {
    name: 'a call in pieces',
    reply: {
      chunks: [
        callDelta({ index: 0, id: 'c1', type: 'function', function: fn('') }),
        callDelta({ index: 0, function: { arguments: '{' } }),
        callDelta({ index: 0, function: { arguments: '}' } }),
        ...ends,
      ],
    },
    then: 'calls',
  },
  {
    name: 'call pieces without index',
    reply: {
      chunks: [
        callDelta({ id: 'c1', function: fn('{') }),
        callDelta({ function: { arguments: '}' } }),
        ...ends,
      ],
    },
    then: 'calls',
  },
  {
    name: 'call pieces without index or id',
    reply: {
      chunks: [callDelta({ function: fn('{}') }), callDelta({ function: fn('{}') }), ...ends],
    },
    then: 'calls',
  },
  {
    name: 'the same index for two calls with ids of their own',
    reply: {
      chunks: [
        callDelta({ index: 0, id: 'c1', function: fn('{}') }),
        callDelta({ index: 0, id: 'c2', function: fn('{}') }),
        ...ends,
      ],
    },
    then: 'calls',
    sentBack: { tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
  },
  {
    name: 'id and name repeated with every piece',
    reply: {
      chunks: [
        callDelta({ index: 0, id: 'c1', function: fn('{') }),
        callDelta({ index: 0, id: 'c1', function: fn('}') }),
        ...ends,
      ],
    },
    then: 'calls',
    sentBack: { tool_calls: [{ id: 'c1', function: { name: 'skill_list', arguments: '{}' } }] },
  },
  {
    name: 'arguments as an object in a delta',
    reply: { chunks: [callDelta({ index: 0, id: 'c1', function: fn({}) }), ...ends] },
    then: 'calls',
  },
  {
    name: 'the whole message instead of deltas',
    reply: {
      chunks: [
        `data: ${JSON.stringify({ ...head, choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }], usage })}\n\n`,
        done,
      ],
    },
    then: 'answers',
    output: 'hi',
  },
  {
    name: 'finish_reason stop beside calls',
    reply: {
      chunks: [
        callDelta({ index: 0, id: 'c1', function: fn('{}') }),
        chunk({}, 'stop'),
        usageChunk,
      ],
    },
    then: 'calls',
  },
  {
    name: 'reasoning_content in pieces',
    reply: {
      chunks: [
        chunk({ reasoning_content: 'r' }),
        chunk({ reasoning_content: '1' }),
        callDelta({ index: 0, id: 'c1', function: fn('{}') }),
        ...ends,
      ],
    },
    then: 'calls',
    sentBack: { content: null, reasoning_content: 'r1' },
  },
  {
    name: 'reasoning_details in pieces',
    reply: {
      chunks: [
        chunk({ reasoning: 'r', reasoning_details: [{ text: 'r' }] }),
        chunk({ reasoning: '1', reasoning_details: [{ text: '1' }] }),
        callDelta({ index: 0, id: 'c1', function: fn('{}') }),
        ...ends,
      ],
    },
    then: 'calls',
    sentBack: { reasoning_details: [{ text: 'r' }, { text: '1' }] },
  },
  {
    name: 'a thought signature on a call',
    reply: {
      chunks: [
        callDelta({
          index: 0,
          id: 'c1',
          function: fn('{}'),
          extra_content: { google: { thought_signature: 'abc' } },
        }),
        ...ends,
      ],
    },
    then: 'calls',
    sentBack: { tool_calls: [{ extra_content: { google: { thought_signature: 'abc' } } }] },
  },
  {
    name: 'an end without [DONE] on a connection that stays open',
    reply: { chunks: [chunk({ content: 'hi' }), chunk({}, 'stop'), usageChunk, 60_000] },
    then: 'answers',
    output: 'hi',
  },
  {
    name: 'a stream that is cut',
    reply: { chunks: [chunk({ content: 'half an ans' })], cut: true },
    then: 'again',
  },
  {
    name: 'a stream that just ends',
    reply: { chunks: [chunk({ content: 'half an ans' })] },
    then: 'again',
  },
  {
    name: 'a stream that ends in the middle of a chunk',
    reply: { chunks: [chunk({ content: 'half' }), chunk({ content: 'another' }).slice(0, 40)] },
    then: 'again',
  },
  {
    name: 'a stream that stalls',
    reply: { chunks: [chunk({ content: 'half' }), 60_000] },
    then: 'again',
  },
  {
    name: 'a chunk that is no JSON',
    reply: { chunks: ['data: {"choices": oops}\n\n', done] },
    then: 'again',
  },
  {
    name: 'an error object in the stream',
    reply: { chunks: ['data: {"error":{"message":"overloaded","code":503}}\n\n'] },
    then: 'again',
  },
];
