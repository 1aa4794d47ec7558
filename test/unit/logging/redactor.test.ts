import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { createRedactor } from '../../../src/shared/logging/redactor.js';

describe('a redactor', () => {
  it('blots secrets out of texts, of JSON in texts, and of every part of a value', () => {
    const redact = createRedactor(['s3cret', 'with "quotes"\n']);
    expect(redact.text('a s3cret, s3crets3cret')).toBe('a [redacted], [redacted][redacted]');
    expect(redact.text(JSON.stringify({ key: 'with "quotes"\n' }))).toBe('{"key":"[redacted]"}');
    expect(redact.value({ s3cret: ['x s3cret', 1, null, { deep: 's3cret' }] })).toEqual({
      '[redacted]': ['x [redacted]', 1, null, { deep: '[redacted]' }],
    });
  });

  it('blots them out of an error and keeps its code and cause', () => {
    const cause = new Error('why');
    const error = new SkillmillError('TOOL_FAILED', 'no s3cret', {
      details: { s: 's3cret' },
      cause,
    });
    const told = createRedactor(['s3cret']).error(error);
    expect(told.toPublic()).toEqual({
      code: 'TOOL_FAILED',
      message: 'no [redacted]',
      retryable: false,
      details: { s: '[redacted]' },
    });
    expect(told.cause).toBe(cause);
  });

  it('leaves short values alone, and everything when there is no secret', () => {
    expect(createRedactor(['1', 'en', '']).text('1 en')).toBe('1 en');
  });

  it('takes signs of a secret as they are', () => {
    const signs = 'a.*+?^${}()|[]\\/-';
    expect(createRedactor([signs]).text(`x${signs}y`)).toBe('x[redacted]y');
    expect(createRedactor(['....']).text('abcd')).toBe('abcd');
  });
});

describe('a text that was cut', () => {
  const cut = '\n[cut]\n';
  const redact = createRedactor(['s3cret-of-ours'], /\n\[cut\]\n/);

  it('shows no half of a secret at the cut', () => {
    expect(redact.text(`a s3cret-o${cut}more`)).toBe(`a ${cut}more`);
    expect(redact.text(`a b${cut}of-ours c`)).toBe(`a b${cut} c`);
    expect(redact.text(`s3cret-of-ours${cut}x`)).toBe(`[redacted]${cut}x`);
    expect(redact.text('a s3cret-o')).toBe('a s3cret-o');
  });
});

describe('a redacted stream', () => {
  it('knows secrets as JSON writes them', () => {
    const stream = createRedactor(['a "b"']).stream();
    expect(stream.push('x a \\"b') + stream.push('\\" y') + stream.end()).toBe('x [redacted] y');
  });

  it('says the same as the whole text would, however it is cut', () => {
    const alphabet = fc.constantFrom('a', 'b', 'c');
    const word = fc
      .array(alphabet, { minLength: 4, maxLength: 7 })
      .map((letters) => letters.join(''));
    const pieces = fc.array(
      fc.array(alphabet, { maxLength: 6 }).map((letters) => letters.join('')),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 3 }), pieces, (secrets, parts) => {
        const redact = createRedactor(secrets);
        const stream = redact.stream();
        const told = [...parts.map((part) => stream.push(part)), stream.end()].join('');
        expect(told).toBe(redact.text(parts.join('')));
      }),
      { numRuns: 2000 },
    );
  });

  it('holds back no more than may be a secret', () => {
    const stream = createRedactor(['s3cret']).stream();
    expect(stream.push('plain text')).toBe('plain text');
    expect(stream.push(' s3c')).toBe(' ');
    expect(stream.push('an')).toBe('s3can');
  });
});
