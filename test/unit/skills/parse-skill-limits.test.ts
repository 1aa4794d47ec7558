import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSkill } from '../../../src/shared/skills/parse-skill.js';
import { decodeText } from '../../../src/shared/skills/source-text.js';

const parse = (text: string) => parseSkill({ text, folderName: 'x', file: 'x/SKILL.md' });

describe('limits', () => {
  it('leaves out a text over 1 MiB', () => {
    const { manifest, diagnostics } = parse(
      `---\nname: x\ndescription: d\n---\n${'x'.repeat(1024 * 1024)}`,
    );
    expect(manifest).toBeUndefined();
    expect(diagnostics).toMatchObject([
      { rule: 'skill-file-too-large', severity: 'error', file: 'x/SKILL.md' },
    ]);
  });

  it('reports at most 20 unknown keys', () => {
    const keys = Array.from({ length: 300 }, (_, at) => `k${at}: v`).join('\n');
    expect(parse(`---\nname: x\ndescription: d\n${keys}\n---\n`).diagnostics).toHaveLength(20);
  });

  it('follows 100 aliases and no more', () => {
    const parseWith = (aliases: number) =>
      parse(`---\nname: &n x\ndescription: d\nallowed-tools: [${'*n,'.repeat(aliases)}]\n---\n`);
    expect(parseWith(100).manifest?.allowedTools).toEqual(['x']);
    expect(parseWith(101).diagnostics).toMatchObject([{ rule: 'front-matter-too-complex' }]);
  });

  it('keeps a metadata key __proto__ as data', () => {
    const metadata = parse('---\nname: x\ndescription: d\nmetadata:\n  __proto__: a\n---\n')
      .manifest?.metadata;
    expect(Object.keys(metadata ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  });

  // 1 MiB of one thing over and over, in each place: the test's own time limit is the guard.
  const mebibyte = 1024 * 1024 - 64;
  const repeated = [
    '\r',
    '\n',
    ' ',
    '\t',
    '<!--',
    '<!---->',
    '---\n',
    '- ',
    '? ',
    '[',
    '{a: ',
    'a: ',
    'a:\n',
    '"',
    "'",
    '&a ',
    '*a ',
    '!a ',
    '# ',
    '#\n',
    '`',
    '```\n',
    'Tools:\n',
    '\uFEFF',
    '\r\r\n',
    'a: "b"x\n',
    '\u2028',
  ];
  it.each(repeated)('1 MiB of %j', (piece) => {
    for (const start of [
      '',
      '---\n',
      '---\nname: x\nmetadata:\n ',
      '---\nname: x\n---\n',
      'Tools:\n- ',
    ]) {
      for (const size of [1_000, 30_000, mebibyte]) {
        parse(start + piece.repeat(Math.floor(size / piece.length)) + '\n---\n');
      }
    }
  });
});

describe('properties', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '---\n',
      '---',
      '\n',
      '\r\n',
      'name: ',
      'description: ',
      'metadata:\n',
      '  ',
      '\t',
      ': ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '&a ',
      '*a',
      '|',
      '>',
      '#',
      '<!--',
      '-->',
      'Tools:\n',
      '!!js ',
      '%',
      '\\',
      '\0',
      '\uFEFF',
      '`',
      '?',
      ',',
      '<<: ',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
  const front = fc.tuple(text, text).map(([yaml, body]) => `---\n${yaml}\n---\n${body}`);

  it('never throws, and a skill that is left out has an error', () => {
    fc.assert(
      fc.property(fc.oneof(text, front), (source) => {
        const { manifest, diagnostics } = parse(source);
        const errors = diagnostics.filter(({ severity }) => severity === 'error');
        expect(errors.length > 0).toBe(manifest === undefined);
        expect(
          diagnostics.every(
            ({ line, message }) => line !== undefined && line > 0 && message !== '',
          ),
        ).toBe(true);
        expect(manifest?.name ?? 'x').not.toMatch(/[/\\\p{Cc}]|\.\./u);
        expect(manifest?.name).not.toBe('');
      }),
      { numRuns: 2_000 },
    );
  });

  it('never throws on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void parse(decodeText(bytes).text)),
    );
  });

  it('keeps any one-line description that was not quoted', () => {
    const word = fc.string({
      unit: fc.constantFrom(...Array.from('abcXYZ0189.,;()/-_é')),
      minLength: 1,
      maxLength: 8,
    });
    const words = fc.tuple(
      word.filter((first) => /^[a-zA-Z]/.test(first)),
      fc.array(fc.oneof(word, fc.constant('when:')), { maxLength: 12 }),
    );
    fc.assert(
      fc.property(words, ([first, rest]) => {
        const description = [first, ...rest].join(' ');
        const { manifest } = parse(
          `---\nname: x\ndescription: ${description}\nlicense: MIT\n---\nB\n`,
        );
        expect(manifest).toMatchObject({ name: 'x', description, license: 'MIT', body: 'B\n' });
      }),
    );
  });
});
