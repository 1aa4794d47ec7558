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
  });

  it('cannot be checked by what is no schema', () => {
    const broken = { name: 'x', schema: { type: 'nonsense' } };
    expect(() => createOutputCheck({ type: 'json_schema', json_schema: broken })).toThrow(
      'is no JSON Schema',
    );
  });
});
