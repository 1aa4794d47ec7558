import type { Reply } from '../../examples/scripted-model.js';
import { fn, head, usage, type Quirk } from './quirks.js';

/** A whole answer, not streamed. */
export const whole = (message: object, finish: unknown = 'stop', more: object = {}): Reply => ({
  body: JSON.stringify({
    ...head,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
    usage,
    ...more,
  }),
});

const listCall = (args: unknown, more: object = {}) => ({
  id: 'c1',
  type: 'function',
  function: fn(args),
  ...more,
});

/** A value as a test's name shows it. */
const said = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value));

/** How answers that are not streamed differ, though a stream was asked for. */
export const wholeQuirks: readonly Quirk[] = [
  {
    name: 'an answer that is not streamed',
    reply: whole({ content: 'hi' }),
    then: 'answers',
    output: 'hi',
  },
  {
    name: 'content as parts',
    reply: whole({ content: [{ type: 'text', text: 'hi' }] }),
    then: 'answers',
    output: 'hi',
  },
  {
    name: 'a refusal',
    reply: whole({ content: null, refusal: 'No.' }),
    then: 'answers',
    output: 'No.',
  },
  ...['{}', '', '  ', null, undefined, {}, '```json\n{}\n```', '{"mode":"all",}', '"{}"'].map(
    (args): Quirk => ({
      name: `arguments ${said(args)}`,
      reply: whole({ content: null, tool_calls: [listCall(args)] }, 'tool_calls'),
      then: 'calls',
      sentBack: { content: null },
    }),
  ),
  ...['stop', 'other', null, undefined].map((reason): Quirk => ({
    name: `finish_reason ${said(reason)} beside two calls`,
    reply: whole({ tool_calls: [listCall('{}'), listCall('{}', { id: 'c2' })] }, reason),
    then: 'calls',
    sentBack: { tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
  })),
  {
    name: 'thousands of unknown fields',
    reply: whole({
      content: 'hi',
      ...Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field${n}`, n])),
    }),
    then: 'answers',
    output: 'hi',
  },
  {
    name: 'two calls with one id',
    reply: whole({ tool_calls: [listCall('{}'), listCall('{}')] }),
    then: 'calls',
    sentBack: { tool_calls: [{ id: 'c1' }, { id: 'c1_2' }] },
  },
  {
    name: 'a call without an id',
    reply: whole({ tool_calls: [listCall('{}', { id: '' })] }),
    then: 'calls',
  },
  {
    name: 'the function_call of before tools',
    reply: whole({ function_call: fn('{}') }),
    then: 'calls',
  },
  ...[[], undefined, null].map((calls): Quirk => ({
    name: `finish_reason tool_calls with ${said(calls)}`,
    reply: whole({ content: 'hi', tool_calls: calls }, 'tool_calls'),
    then: 'answers',
    output: 'hi',
  })),
  { name: 'neither text nor calls', reply: whole({ content: '' }, 'tool_calls'), then: 'again' },
  {
    name: 'usage absent',
    reply: whole({ content: 'hi' }, 'stop', { usage: null }),
    then: 'answers',
    output: 'hi',
    estimated: true,
  },
  ...[408, 409, 429, 500, 503, 529].map((status): Quirk => ({
    name: `status ${status}`,
    reply: { status, headers: { 'retry-after': '0' }, body: '{"error":{"message":"later"}}' },
    then: 'again',
  })),
  { name: 'a connection that breaks', reply: { body: '', cut: true }, then: 'again' },
];
