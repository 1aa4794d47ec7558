import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArguments, repairArguments } from '../../../src/worker/model/parse-arguments.js';

const brackets = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
/** Text that is JSON but for something a model may do to it. */
const piece = fc.constantFrom(
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '"a"',
  '1',
  'null',
  ' ',
  '\n',
  '`',
);
const almostJson = fc.oneof(
  fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
  fc.string(),
);

describe('parseArguments', () => {
  it('reads any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseArguments(text)).toEqual({ value: JSON.parse(text) as unknown });
      }),
    );
  });

  it('gives other text as it is, with what is wrong, and never throws', () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        const { value, fault } = parseArguments(text);
        if (fault === undefined) return;
        expect(value).toBe(text);
        expect(fault).not.toBe('');
        expect(() => JSON.parse(text) as unknown).toThrow();
      }),
    );
  });

  it('refuses what is nested more than 100 deep', () => {
    expect(parseArguments(brackets(100)).fault).toBeUndefined();
    expect(parseArguments(brackets(101))).toEqual({
      value: brackets(101),
      fault: 'nested deeper than 100',
    });
    expect(parseArguments(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`).fault).toContain('deeper');
    expect(parseArguments('['.repeat(1_000_000)).fault).toContain('deeper');
  });

  it.each([
    ['in a text', JSON.stringify({ a: brackets(500) })],
    ['after an escaped quote', JSON.stringify({ a: `"${'['.repeat(500)}` })],
    ['after an escaped backslash', JSON.stringify([`\\`, '['.repeat(500)])],
    ['side by side', `[${'[],'.repeat(500)}[]]`],
  ])('does not count brackets %s as depth', (_, text) => {
    expect(parseArguments(text).fault).toBeUndefined();
  });
});

describe('repairArguments', () => {
  it.each([
    ['nothing', '', '{}'],
    ['blanks', ' \n\t', '{}'],
    ['null', 'null', '{}'],
    ['a fence', '```json\n{"a": 1}\n```', '{"a": 1}'],
    ['a fence of no language', '```\n{"a":1}```', '{"a":1}'],
    ['an empty fence', '```json\n```', '{}'],
    ['a last comma', '{"a": [1, 2, ], }', '{"a": [1, 2 ] }'],
    ['a second layer of quotes', JSON.stringify('{"a":1}'), '{"a":1}'],
    ['a third', JSON.stringify(JSON.stringify('{"a":1}')), '{"a":1}'],
    ['a fence with a last comma', '```json\n{"a":1,}\n```', '{"a":1}'],
    ['a text that is quoted and ends with a comma', JSON.stringify('{"a":1,}'), '{"a":1}'],
  ])('mends %s', (_, text, mended) => {
    expect(repairArguments(text)).toBe(mended);
  });

  it.each([
    ['half an object', '{"a":'],
    ['two commas', '{"a":1,,}'],
    ['single quotes', "{'a':1}"],
    ['two objects', '{"a":1}{"b":2}'],
    ['words', 'please list the skills'],
    ['a text', '"hello"'],
    ['a list', '[1]'],
    ['a number', '5'],
    ['an open fence', '```json\n{"a":1}'],
    ['commas in texts', '{"a":",}","b":",]"}'],
    ['commas after an escaped quote', '{"a":"\\",}"}'],
  ])('leaves %s as it is', (_, text) => {
    expect(repairArguments(text)).toBe(text);
  });

  it('leaves every object as it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(value, null, 1);
        expect(repairArguments(text)).toBe(text);
      }),
    );
  });

  it('never throws, makes nothing worse, and has nothing left to mend', () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        const mended = repairArguments(text);
        expect(repairArguments(mended)).toBe(mended);
        if (parseArguments(text.trim()).fault === undefined) {
          expect(parseArguments(mended).fault).toBeUndefined();
        }
        if (parseArguments(mended).fault !== undefined) expect(mended).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes trailing commas out, and nothing else', () => {
    const withCommas = (value: unknown): string => {
      if (Array.isArray(value)) return `[${value.map((v) => `${withCommas(v)},`).join('\n')}]`;
      if (typeof value !== 'object' || value === null) return JSON.stringify(value);
      const fields = Object.entries(value).map(
        ([k, v]) => `${JSON.stringify(k)}:${withCommas(v)} ,`,
      );
      return `{${fields.join(' ')} }`;
    };
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(parseArguments(repairArguments(withCommas(plain)))).toEqual({ value: plain });
      }),
    );
  });

  it.each([
    ['an open quote', `{"a":"${'\\"'.repeat(200_000)}`],
    ['commas', `[${',\n'.repeat(200_000)}`],
    ['blanks after a comma', `[1,${' '.repeat(400_000)}x`],
  ])('is not held up by %s', (_, text) => {
    // What goes back over the text again and again takes longer than the test may.
    expect(repairArguments(text)).toBe(text);
  });

  it('is not held up by a fence that does not end', () => {
    const text = `\`\`\`${'\n'.repeat(100_000)}x`;
    expect(repairArguments(text)).toBe(text);
  });
});
