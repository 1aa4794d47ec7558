import { describe, expect, it } from 'vitest';
import { createOutputCheck } from '../../../src/worker/agent/output-check.js';

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const check = createOutputCheck({ type: 'json_schema', json_schema: { name: 'x', schema } });

describe('an answer', () => {
  it('is as it is when nothing was asked for', () => {
    expect(createOutputCheck(undefined)('not { json')).toMatchObject({ kind: 'answer' });
    expect(createOutputCheck({ type: 'text' })('x')).toEqual({
      kind: 'answer',
      answer: { text: 'x' },
    });
  });

  it.each(['{"n":1}', ' {"n":1}\n', '```json\n{"n":1}\n```'])('is parsed: %j', (text) => {
    expect(check(text)).toEqual({ kind: 'answer', answer: { text, parsed: { n: 1 } } });
  });

  it.each([
    ['{"n":"1"}', '/n must be integer'],
    ['{}', "must have required property 'n'"],
    ['Sure! {"n":1}', 'it is no JSON'],
    ['', 'it is no JSON'],
  ])('that does not fit is told what is wrong: %j', (text, why) => {
    const checked = check(text);
    if (checked.kind !== 'fault') throw new Error('it fits');
    expect(checked.complaint).toContain(why);
    expect(checked.error).toMatchObject({ code: 'OUTPUT_INVALID' });
  });

  it('must be an object for json_object', () => {
    const object = createOutputCheck({ type: 'json_object' });
    expect(object('{}')).toMatchObject({ kind: 'answer' });
    expect(object('1')).toMatchObject({ kind: 'fault' });
    expect(object('[1]')).toMatchObject({ kind: 'fault' });
  });

  it('cannot be checked by what is no schema', () => {
    const broken = { name: 'x', schema: { type: 'nonsense' } };
    expect(() => createOutputCheck({ type: 'json_schema', json_schema: broken })).toThrow(
      'is no JSON Schema',
    );
  });

  const checkOf = (own: Record<string, unknown>) =>
    createOutputCheck({ type: 'json_schema', json_schema: { name: 'x', schema: own } });

  it('is checked by schemas of every dialect, and by ordinary patterns', () => {
    for (const dialect of ['2020-12/schema', '2019-09/schema']) {
      const dated = checkOf({ $schema: `https://json-schema.org/draft/${dialect}`, ...schema });
      expect(dated('{"n":1}')).toMatchObject({ kind: 'answer' });
    }
    expect(checkOf({ type: 'string', pattern: '^\\d{2}\\-\\d$' })('"12-3"').kind).toBe('answer');
  });

  it('is held up by no schema, and by no answer', () => {
    const slow = checkOf({ type: 'string', pattern: '^(a+)+$' });
    expect(slow(JSON.stringify(`${'a'.repeat(40)}!`))).toMatchObject({ kind: 'fault' });
    const levels = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `l${n}`,
        { anyOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] },
      ]),
    );
    const deep = { $ref: '#/$defs/l0', $defs: { ...levels, l40: { type: 'integer' } } };
    const outcome = () => checkOf(deep)('"x"').kind;
    expect(['fault', 'threw']).toContain(tried(outcome));
    expect(check('```' + '\n'.repeat(20_000) + 'x')).toMatchObject({ kind: 'fault' });
    expect(check('['.repeat(20_000))).toMatchObject({ kind: 'fault' });
  });

  it('may not hide behind a promise', () => {
    expect(() => checkOf({ $async: true, type: 'object' })).toThrow('$async is not supported');
  });
});

/** What a function gives, or that it threw. */
function tried(run: () => string): string {
  try {
    return run();
  } catch {
    return 'threw';
  }
}
