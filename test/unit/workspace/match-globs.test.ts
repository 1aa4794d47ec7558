import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchGlobs } from '../../../src/worker/workspace/match-globs.js';

function match(paths: readonly string[], globs: readonly string[]) {
  const warnings: string[] = [];
  const found = matchGlobs(
    paths.map((path) => ({ path })),
    globs,
    warnings,
  );
  return { paths: found.map(({ path }) => path), warnings };
}
const tree = ['out/.hidden', 'out/a.csv', 'out/b(1).txt', 'out/d/c.csv', 'out/x\ny', 'work/w.csv'];

describe('matchGlobs', () => {
  it.each([
    [['out/*.csv'], ['out/a.csv']],
    [['out/**/*.csv'], ['out/a.csv', 'out/d/c.csv']],
    [['**/*.csv'], ['out/a.csv', 'out/d/c.csv', 'work/w.csv']],
    [['out/**'], ['out/.hidden', 'out/a.csv', 'out/b(1).txt', 'out/d/c.csv', 'out/x\ny']],
    [
      ['out/?.csv', 'work/[vw].csv'],
      ['out/a.csv', 'work/w.csv'],
    ],
    [['{out,work}/{a,w}.csv'], ['out/a.csv', 'work/w.csv']],
    [['out/x*'], ['out/x\ny']],
    [['out/.*'], ['out/.hidden']],
    [['out'], []],
    [['OUT/a.csv'], []],
    [['out/+(a).csv'], []],
    [[], []],
  ])('%j names %j', (globs, paths) => {
    expect(match(tree, globs)).toEqual({ paths, warnings: [] });
  });

  it.each(['out/b(1).txt', 'out/a|b', 'work/w (copy).csv'])(
    '%s names the file of that name',
    (path) => {
      expect(match([...new Set([...tree, path])], [path]).paths).toEqual([path]);
    },
  );

  it('keeps the files’ order and names each once, whatever the globs’ order', () => {
    expect(match(tree, ['work/*', 'out/*.csv', '**/*.csv', 'out/a.csv']).paths).toEqual([
      'out/a.csv',
      'out/d/c.csv',
      'work/w.csv',
    ]);
  });

  it('gives back the very files', () => {
    const file = { path: 'out/a.csv', size: 5 };
    expect(matchGlobs([file], ['out/*'], [])[0]).toBe(file);
  });

  it('leaves out a glob that is too long, with one warning, and takes the others', () => {
    const long = `out/${'*'.repeat(509)}`;
    expect(match(tree, [long, 'out/a.csv', long])).toEqual({
      paths: ['out/a.csv'],
      warnings: ['globs over 512 characters were left out'],
    });
    expect(match(tree, [long.slice(1)]).warnings).toEqual([]);
    expect(match(tree, [long]).paths).toEqual([]);
  });

  it('never throws, and is never held up long, whatever the glob', () => {
    const part = fc.constantFrom(
      '*',
      '**',
      '?',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ',',
      '!',
      '\\',
      '..',
    );
    const piece = fc.oneof(part, part, fc.constantFrom('a', '/', 'out/', '+', '@', '^', '$', '|'));
    const glob = fc.oneof(
      fc.array(piece, { maxLength: 60 }).map((all) => all.join('')),
      fc.string(),
    );
    const property = fc.property(fc.array(glob, { maxLength: 3 }), (globs) => {
      const { paths } = match(tree, globs);
      expect(tree.filter((path) => paths.includes(path))).toEqual(paths);
    });
    fc.assert(property);
  });

  const hostile = `out/${'?(a)'.repeat(60)}b`;
  it('gives up on a glob that takes too long, for all globs of the call', () => {
    const path = `out/${'a'.repeat(200)}`;
    const { paths, warnings } = match([path, 'out/b'], [hostile, 'out/b']);
    expect(paths).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/^nothing was collected: the globs could not/),
    ]);
  });

  it('says that it took too long', () => {
    const { warnings } = match([`out/${'a'.repeat(200)}`], [hostile]);
    expect(warnings[0]).toMatch(/time|long/);
    expect(warnings[0]).not.toContain('unknown error');
  });
});
