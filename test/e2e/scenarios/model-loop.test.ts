import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../../../examples/scripted-model.js';
import { projectDir } from '../../support/cli.js';
import { whole } from '../../support/whole-quirks.js';
import { callOf, inOrder, openTurnsDesk, type TurnsDesk } from '../../support/turns-desk.js';

let desk: TurnsDesk;
beforeAll(async () => {
  desk = await openTurnsDesk({
    OPENAI_MODEL: 'first,second',
    SKILLMILL_TOOLBOX: join(projectDir, 'test', 'support', 'loop-toolbox.js'),
    SKILLS_ROOT: join(projectDir, 'test', 'fixtures', 'loop-skills'),
  });
});
afterAll(() => desk.close());

const list = callOf('skill_list');
const contents = (requests: { messages: { role: string; content?: unknown }[] }[]) =>
  (requests.at(-1)?.messages ?? []).map(({ role, content }) => `${role}: ${String(content)}`);

describe('calls of one reply', () => {
  it('run together where they may, and are answered once, in order [tool-calls]', async () => {
    const calls = ['meet_left', 'meet_right', 'throws', 'no_such_tool', 'skill_list'];
    const { result, requests } = await desk.turn([
      callOf('skill_load', { skill_name: 'looping' }),
      { calls: calls.map((name) => ({ name, arguments: {} })) },
      { text: 'done' },
    ]);
    expect(result).toMatchObject({ status: 'completed', output: 'done' });
    const [, ...records] = result.toolCalls;
    expect(records.map(({ name }) => name)).toEqual(calls);
    expect(records.map(({ error }) => error?.code ?? null)).toEqual([
      ...[null, null, 'TOOL_FAILED', 'TOOL_NOT_FOUND', null],
    ]);
    for (const { error } of records) if (error) expect(error.message.length).toBeGreaterThan(10);
    expect(new Set(result.toolCalls.map(({ id }) => id)).size).toBe(6);
    const answers = requests.at(-1)?.messages.slice(-5) ?? [];
    expect(answers.map(({ role }) => role)).toEqual(Array(5).fill('tool'));
    expect(desk.world.model.faults).toEqual([]);
  });

  it('of a tool that minds no signal do not hold up a cancel [tool-calls]', async () => {
    desk.world.script('deaf', [callOf('skill_load', { skill_name: 'looping' }), callOf('deaf')]);
    const { turnId } = await desk.client.enqueue({ input: 'deaf' });
    for await (const event of desk.client.events(turnId)) {
      if (event.type === 'tool.started' && event.name === 'deaf') break;
    }
    await desk.client.cancel(turnId);
    expect(await desk.client.result(turnId, { waitMs: 5000 })).toMatchObject({
      status: 'cancelled',
    });
  });

  it('that are no JSON are told so, with the schema [tool-calls]', async () => {
    const { result, requests } = await desk.turn([
      callOf('skill_load', '{"skill_name": looping}'),
      { text: 'done' },
    ]);
    expect(result.status).toBe('completed');
    expect(result.toolCalls[0]?.error).toMatchObject({ code: 'TOOL_INPUT_INVALID' });
    expect(contents(requests).at(-1)).toContain('include_all_docs');
    const sent = requests.at(-1)?.messages.findLast(({ role }) => role === 'assistant');
    expect(sent?.tool_calls?.[0]?.function.arguments).toBe('{}');
  });
});

it('the same id in every step is another call each time [model-quirks]', async () => {
  const step = (args: string) =>
    whole({
      tool_calls: [{ id: 'skill_list:0', function: { name: 'skill_list', arguments: args } }],
    });
  const { result, requests } = await desk.turn([
    step('{"n":1}'),
    step('{"n":2}'),
    { text: 'done' },
  ]);
  expect(result).toMatchObject({ status: 'completed', output: 'done' });
  expect(result.toolCalls.map((call) => call.arguments)).toEqual([{ n: 1 }, { n: 2 }]);
  expect(new Set(result.toolCalls.map(({ id }) => id)).size).toBe(2);
  const sent = requests.at(-1)?.messages.flatMap((message) => message.tool_calls ?? []) ?? [];
  expect(sent.map(({ id }) => id)).toEqual(['skill_list:0', 'skill_list:0']);
  expect(desk.world.model.faults).toEqual([]);
});

describe('a model that repeats itself', () => {
  it('is told, and then the turn fails [loop-detected]', async () => {
    const { result, requests } = await desk.turn(Array<Reply>(20).fill(list));
    expect(result).toMatchObject({ status: 'failed', error: { code: 'LOOP_DETECTED' } });
    expect(result.toolCalls).toHaveLength(5);
    expect(contents(requests).at(-1)).toContain('made several times');
    expect(contents(requests.slice(0, 4)).join('\n')).not.toContain('made several times');
  });

  it('within one reply is told before it is ended [loop-detected]', async () => {
    const five = {
      calls: Array.from({ length: 8 }, () => ({ name: 'skill_list', arguments: {} })),
    };
    const { result, requests } = await desk.turn([five, { text: 'enough' }]);
    expect(result).toMatchObject({ status: 'completed', output: 'enough' });
    expect(result.toolCalls).toHaveLength(8);
    expect(contents(requests).at(-1)).toContain('made several times');
  });

  it('may go on when it heeds that [loop-detected]', async () => {
    const { result } = await desk.turn([...Array<Reply>(4).fill(list), { text: 'enough' }]);
    expect(result).toMatchObject({ status: 'completed', output: 'enough' });
  });
});

describe('an answer that is cut at the output limit', () => {
  const cut = (text: string) => whole({ content: text }, 'length');

  it('is gone on with, once [output-limit]', async () => {
    const { result, requests } = await desk.turn([cut('One, '), { text: 'two.' }]);
    expect(result).toMatchObject({ status: 'completed', output: 'One, two.' });
    expect(contents(requests).slice(-2)).toEqual([
      'assistant: One, ',
      expect.stringContaining('Go on exactly'),
    ]);
  });

  it('twice fails the turn [output-limit]', async () => {
    const { result } = await desk.turn([cut('One, '), cut('two, ')]);
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'LIMIT_EXCEEDED', details: { limit: 'maxOutputTokens' } },
    });
  });

  it('in the middle of a call is told [output-limit]', async () => {
    const call = { id: 'c', function: { name: 'skill_list', arguments: '{"mode": "al' } };
    const { result } = await desk.turn([whole({ tool_calls: [call] }, 'length'), { text: 'done' }]);
    expect(result.status).toBe('completed');
    expect(result.toolCalls[0]?.error?.message).toContain('cut at the model’s output limit');
  });
});

it('a filtered answer fails the turn with its own code [model-quirks]', async () => {
  const { result } = await desk.turn([whole({ content: 'I' }, 'content_filter')]);
  expect(result).toMatchObject({ status: 'failed', error: { code: 'CONTENT_FILTERED' } });
  const next = await desk.turn([{ text: 'fine' }], { sessionId: result.sessionId });
  expect(next.result.output).toBe('fine');
  expect(desk.world.model.faults).toEqual([]);
});

describe('the last chance', () => {
  it('is one call without tools when the model calls are used up [last-chance]', async () => {
    const { result, requests } = await desk.turn(
      [list, callOf('skill_list', { mode: 'all' }), { text: 'What I have.' }],
      { limits: { maxModelCalls: 2 } },
    );
    expect(result).toMatchObject({ status: 'completed', output: 'What I have.' });
    expect(requests.map((request) => request.tool_choice)).toEqual([undefined, undefined, 'none']);
    expect(requests[2]?.tools).toEqual(requests[1]?.tools);
    expect(contents(requests).at(-1)).toContain('Your model calls are used up');
  });

  it('is no way round the limit [last-chance]', async () => {
    const replies = Array.from({ length: 9 }, (_, n) => callOf('skill_list', { n }));
    const { result, requests } = await desk.turn(replies, { limits: { maxModelCalls: 2 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'LIMIT_EXCEEDED', details: { limit: 'maxModelCalls' } },
    });
    expect(requests.length).toBeLessThanOrEqual(4);
  });
});

describe('a model that is away', () => {
  const down: Reply = { status: 503, headers: { 'retry-after-ms': '1' } };

  it('is stood in for by the next, for the rest of the turn [fallback-models]', async () => {
    const { result, requests } = await desk.turn(inOrder([down, down, down, list]));
    expect(result).toMatchObject({ status: 'completed', output: 'done' });
    expect(requests.map(({ model }) => model)).toEqual([
      ...['first', 'first', 'first'],
      ...['second', 'second'],
    ]);
  });
});

it('a field that an endpoint refuses by name is left out from then on [model-quirks]', async () => {
  const refusal = { error: { message: 'Unsupported parameter: stream_options' } };
  const replies: Reply[] = [{ status: 400, body: JSON.stringify(refusal) }, { text: 'fine' }];
  const { result, requests } = await desk.turn(inOrder(replies), { model: 'picky' });
  expect(result).toMatchObject({ status: 'completed', output: 'fine' });
  expect(requests.map((request) => 'stream_options' in request)).toEqual([true, false]);
});

describe('an answer of a given form', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const responseFormat = { type: 'json_schema', json_schema: { name: 'x', schema } } as const;

  it('is checked and parsed [response-format]', async () => {
    const { result, requests } = await desk.turn([{ text: '{"n": 1}' }], { responseFormat });
    expect(result).toMatchObject({ status: 'completed', output: '{"n": 1}', parsed: { n: 1 } });
    expect(requests[0]?.response_format).toEqual(responseFormat);
  });

  it('is asked for once more, and then the turn fails [response-format]', async () => {
    const mended = await desk.turn([{ text: 'one' }, { text: '{"n":2}' }], { responseFormat });
    expect(mended.result).toMatchObject({ status: 'completed', parsed: { n: 2 } });
    expect(contents(mended.requests).at(-1)).toContain('does not have the form');
    const { result, requests } = await desk.turn([{ text: 'one' }, { text: '{"n":"x"}' }], {
      responseFormat,
    });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_INVALID' } });
    expect(requests).toHaveLength(2);
  });
});
