import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { toBusinessTool } from '../../../src/worker/toolbox/business-tool.js';
import { defineTool, isToolboxTool } from '../../../src/worker/toolbox/define-tool.js';

const call = {
  ...{ callKey: 'turn_1_call_1', turnId: 'turn_1', sessionId: 's', tenant: 'default' },
  signal: new AbortController().signal,
};
const parameters = z.object({
  city: z.string().min(1),
  days: z.number().int().max(7).default(3),
  stops: z.array(z.object({ at: z.string() })).optional(),
});
/** A tool that does this with its arguments. */
const toolThat = (execute: (args: z.output<typeof parameters>) => unknown) =>
  toBusinessTool(defineTool({ name: 'weather', description: 'Tells.', parameters, execute }));
const failureOf = async (work: Promise<unknown>) => {
  const failed = await work.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );
  if (!(failed instanceof SkillmillError)) throw new Error(`no error of ours: ${String(failed)}`);
  return { ...failed.toPublic(), cause: failed.cause };
};

describe('a tool of the toolbox', () => {
  it('is told to the model by its schema as the model has to fill it in', () => {
    const tool = toolThat(() => null);
    expect(tool.definition).toEqual({
      name: 'weather',
      description: 'Tells.',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string', minLength: 1 },
          days: expect.objectContaining({ type: 'integer', maximum: 7, default: 3 }) as unknown,
          stops: {
            type: 'array',
            items: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
          },
        },
        required: ['city'],
      },
    });
  });

  it('gets its arguments with their defaults, and the call they came with', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      ...{ name: 'weather', description: 'Tells.', parameters },
      execute: (args, info) => seen.push(args, info),
    });
    await toBusinessTool(tool).run({ city: 'Oslo', extra: 1 }, call);
    expect(seen).toEqual([{ city: 'Oslo', days: 3 }, call]);
  });

  it('never runs with arguments that are wrong; all of them are named', async () => {
    let runs = 0;
    const tool = toolThat(() => (runs += 1));
    const wrong = { city: '', days: 9, stops: [{ at: 'x' }, { at: 5 }] };
    const { code, message } = await failureOf(tool.run(wrong, call));
    expect(code).toBe('TOOL_INPUT_INVALID');
    expect(message).toMatch(/^Wrong arguments for weather: /);
    for (const path of ['city: ', 'days: ', 'stops[1].at: ']) expect(message).toContain(path);
    for (const args of [undefined, null, 'Oslo', [], 5]) {
      expect(await failureOf(tool.run(args, call))).toMatchObject({ code: 'TOOL_INPUT_INVALID' });
    }
    expect(runs).toBe(0);
  });

  it('says which fields it does not know when it is strict', async () => {
    const strict = defineTool({
      ...{ name: 'strict', description: '', execute: () => null },
      parameters: z.strictObject({ a: z.string() }),
    });
    const { message } = await failureOf(toBusinessTool(strict).run({ a: 'x', b: 1, c: 2 }, call));
    expect(message).toMatch(/b: .*; c: /);
  });

  it.each<[string, unknown, string]>([
    ['an error', new Error('no such city'), 'no such city'],
    ['an error without words', new RangeError(), 'RangeError'],
    ['several', new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
    ['a text', 'it broke', 'it broke'],
    ['nothing', undefined, 'unknown error'],
    ['an error of ours', new SkillmillError('CANCELLED', 'It was stopped.'), 'It was stopped.'],
  ])('that throws %s has failed', async (_, thrown, words) => {
    const throwing = toolThat(() => {
      throw thrown;
    });
    const rejecting = toolThat(async () => {
      await Promise.resolve();
      throw thrown;
    });
    for (const tool of [throwing, rejecting]) {
      expect(await failureOf(tool.run({ city: 'Oslo' }, call))).toEqual({
        ...{ code: 'TOOL_FAILED', message: `weather failed: ${words}`, retryable: false },
        cause: thrown,
      });
    }
  });

  it.each([
    ['data', { a: [1, null] }, { a: [1, null] }],
    ['a promise', Promise.resolve('soon'), 'soon'],
    ['nothing', undefined, null],
    ['a function', () => 1, null],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['what has fields that JSON does not hold', { a: undefined, b: NaN }, { b: null }],
    ['a false', false, false],
  ])('that answers %s answers plain data', async (_, given, plain) => {
    expect(await toolThat(() => given).run({ city: 'Oslo' }, call)).toEqual(plain);
  });

  it('that answers what JSON cannot hold has failed', async () => {
    const ring: { self?: unknown } = {};
    ring.self = ring;
    for (const answer of [ring, 5n, { deep: [1n] }]) {
      const failure = await failureOf(toolThat(() => answer).run({ city: 'Oslo' }, call));
      expect(failure).toMatchObject({ code: 'TOOL_FAILED' });
    }
  });

  it('may check its arguments with something that takes time', async () => {
    const slow = defineTool({
      ...{ name: 'slow', description: '', execute: () => 'ran' },
      parameters: z.object({ id: z.string().refine((id) => Promise.resolve(id !== 'bad')) }),
    });
    expect(await toBusinessTool(slow).run({ id: 'good' }, call)).toBe('ran');
    expect(await failureOf(toBusinessTool(slow).run({ id: 'bad' }, call))).toMatchObject({
      code: 'TOOL_INPUT_INVALID',
    });
  });
});

describe('isToolboxTool', () => {
  it('knows what defineTool made, also in another copy of the package', () => {
    const made = defineTool({
      name: 'a',
      description: '',
      parameters: z.object({}),
      execute: () => 1,
    });
    expect(isToolboxTool(made)).toBe(true);
    expect(isToolboxTool({ [Symbol.for('skillmill.toolbox.tool')]: true })).toBe(true);
    for (const other of [undefined, null, 'a', {}, () => 1, { name: 'a', run: () => 1 }]) {
      expect(isToolboxTool(other)).toBe(false);
    }
  });
});
