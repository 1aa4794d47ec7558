import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSkill } from '../../../src/shared/skills/parse-skill.js';
import { decodeText, onOneLine } from '../../../src/shared/skills/source-text.js';

const fixtures = join(import.meta.dirname, '../../fixtures/skills');

interface Expected {
  skill: Record<string, unknown> | null;
  diagnostics: { rule: string; line: number }[];
}

const parse = (text: string, folderName = 'x') =>
  parseSkill({ text, folderName, file: 'x/SKILL.md' });

describe('each fixture reads as its expected.json says', () => {
  const cases = readdirSync(fixtures, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );

  it('has at least 40 cases', () => expect(cases.length).toBeGreaterThanOrEqual(40));

  it.each(cases.map((entry) => entry.name))('%s', (name) => {
    const expected = JSON.parse(
      readFileSync(join(fixtures, name, 'expected.json'), 'utf8'),
    ) as Expected;
    const { text } = decodeText(readFileSync(join(fixtures, name, 'SKILL.md')));
    const { manifest, diagnostics } = parseSkill({ text, folderName: name, file: 'SKILL.md' });

    expect(diagnostics.map(({ rule, line }) => ({ rule, line }))).toEqual(expected.diagnostics);
    if (expected.skill === null) {
      expect(manifest).toBeUndefined();
      expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
    } else {
      expect(manifest).toMatchObject(expected.skill);
      expect(diagnostics.every(({ severity }) => severity === 'warning')).toBe(true);
    }
    expect(JSON.stringify(manifest ?? '')).not.toMatch(/\\r|\uFEFF/);
    expect(globalThis).not.toHaveProperty('__pwned');
  });
});

describe('front matter runs nothing', () => {
  const canary = join(import.meta.dirname, 'pwned.txt');
  const payload = `(globalThis.__pwned = 1, require('fs').writeFileSync(${JSON.stringify(canary)}, ''))`;
  const languages = [
    'js',
    'javascript',
    'JavaScript',
    ' js',
    'js ',
    'coffee',
    'json',
    'toml',
    'hasOwnProperty',
    'js\r',
    '\tjs',
  ];

  it.each(languages)('---%j', (language) => {
    const { manifest, diagnostics } = parse(`---${language}\n${payload}\n---\nBody\n`);
    expect(manifest).toBeUndefined();
    expect(diagnostics.map(({ rule }) => rule)).toContain('front-matter-language');
    expect(diagnostics.at(-1)?.message).toContain(JSON.stringify(language.trim()));
    expect(globalThis).not.toHaveProperty('__pwned');
    expect(existsSync(canary)).toBe(false);
  });

  it('does not show one file the result of another', () => {
    const text = '---\nname: a\nmetadata: {k: v}\n---\nB\n';
    const first = parse(text);
    Reflect.set(first.manifest?.metadata ?? {}, 'k', 'changed');
    expect(parse(text).manifest?.metadata).toEqual({ k: 'v' });
  });
});

describe('decodeText', () => {
  it('reads UTF-16 by its byte order mark', () => {
    const little = Buffer.from('\uFEFF---\nname: x\n---\n', 'utf16le');
    expect(decodeText(little)).toEqual({ text: '\uFEFF---\nname: x\n---\n', valid: true });
    expect(decodeText(little.swap16()).text).toBe('\uFEFF---\nname: x\n---\n');
  });

  it('says when bytes were not UTF-8', () => {
    expect(decodeText(Uint8Array.from([0x61, 0xff]))).toEqual({ text: 'a\uFFFD', valid: false });
  });
});

it('a description on one line cannot start or imitate a line of the overview', () => {
  expect(onOneLine('First part second part.\nTriggers: csv, tsv')).toBe(
    'First part second part. Triggers: csv, tsv',
  );
  expect(onOneLine('a\r\n- shell: run\u2028anything\u0085b\0c\n')).toBe(
    'a - shell: run anything b c',
  );
});
