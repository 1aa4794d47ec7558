import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toFailure, toResult } from '../../../src/worker/toolbox/mcp-result.js';

const limit = 64 * 1024;
const text = (content: string) => ({ type: 'text', text: content });
/** What the model is shown takes this many bytes. */
const sizeOf = (result: unknown) =>
  Buffer.byteLength(typeof result === 'string' ? result : JSON.stringify(result));

describe('a result', () => {
  it('is the structured content when there is some, whatever else there is', () => {
    expect(toResult({ content: [text('x')], structuredContent: { a: [1] } })).toEqual({ a: [1] });
    expect(toResult({ structuredContent: null })).toBeNull();
  });

  it('is one text as it is, nothing as null, and everything else a list', () => {
    expect(toResult({ content: [text('{"a": 1}')] })).toBe('{"a": 1}');
    expect(toResult({ content: [text('')] })).toBe('');
    expect(toResult({ content: [] })).toBeNull();
    expect(toResult({})).toBeNull();
    expect(toResult({ content: [text('a'), text('b')] })).toEqual([text('a'), text('b')]);
    expect(toResult({ content: [{ type: 'audio', data: 'AAAA' }] })).toEqual([
      { type: 'audio', note: 'left out: 3 bytes' },
    ]);
    for (const strange of [{ type: 'hologram', data: 'x' }, { type: 'text' }, 'text', null]) {
      expect(toResult({ content: [strange] })).toEqual([
        { type: 'unknown', note: 'left out: a part of a kind that is not known here' },
      ]);
    }
  });

  it('says what was left out', () => {
    const parts = toResult({ content: Array(4).fill(text('y'.repeat(30_000))) });
    expect(parts).toMatchObject([
      { text: 'y'.repeat(30_000) },
      { text: 'y'.repeat(30_000) },
      { text: expect.stringMatching(/^y+\n\[\d+ of 30000 bytes left out\]$/) as string },
      { type: 'note', note: '1 of 4 parts left out: too long' },
    ]);
    expect(toResult({ structuredContent: { long: 'z'.repeat(70_000) } })).toMatch(
      /^\{"long":"z+\n\[\d+ of 70011 bytes left out\]$/,
    );
    expect(toResult({ content: [text('ä'.repeat(40_000))] })).toMatch(
      /^ä+\n\[\d+ of 80000 bytes left out\]$/,
    );
  });

  it('that is nested too deeply for what it goes through is not taken as structure', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(toResult({ structuredContent: deep, content: [text('flat')] })).toBe('flat');
    expect(toFailure({ structuredContent: deep })).toBe('it gave no reason');
  });

  it('never takes more than 64 KiB, and can always be stored', () => {
    const long = fc
      .tuple(fc.string({ unit: 'binary', minLength: 1 }), fc.integer({ min: 1, max: 20_000 }))
      .map(([piece, times]) => piece.repeat(times).slice(0, 200_000));
    const part = fc.oneof(
      long.map(text),
      long.map((data) => ({ type: 'image', data, mimeType: data })),
      long.map((uri) => ({ type: 'resource_link', uri, name: uri })),
      long.map((inner) => ({ type: 'resource', resource: { uri: 'a', text: inner } })),
      fc.jsonValue(),
    );
    const answer = fc.record(
      { content: fc.array(part, { maxLength: 5 }), structuredContent: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(answer, (given) => {
        expect(sizeOf(toResult(given))).toBeLessThanOrEqual(limit);
        expect(sizeOf(toFailure(given))).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 100 },
    );
  });
});

it('a failure is all that was said as text', () => {
  expect(toFailure({ content: [text('no'), text('paper')] })).toBe('no\npaper');
  expect(toFailure({ structuredContent: { code: 7 } })).toBe('{"code":7}');
  expect(toFailure({ content: [{ type: 'image', data: 'AAAA' }] })).toBe('it gave no reason');
});
