import { describe, expect, it } from 'vitest';
import { destinationOf, parseSource } from '../../../src/worker/workspace/input-source.js';

const base = { workspaceDir: '/workspace', runDir: 'runs/run_1' };
const source = (src: string) => parseSource(src, base);
const destination = (dst: string) => destinationOf(dst, 'own', base);

describe('a source', () => {
  it.each([
    ['artifact://out/a.txt', { kind: 'artifact', name: 'out/a.txt', version: undefined }],
    ['artifact://out/a.txt@12', { kind: 'artifact', name: 'out/a.txt', version: 12 }],
    ['artifact://out/a@2x.png@0', { kind: 'artifact', name: 'out/a@2x.png', version: 0 }],
    ['artifact://a@latest', { kind: 'artifact', name: 'a@latest', version: undefined }],
    ['host:///etc/x', { kind: 'host', path: '/etc/x' }],
    ['host://etc/x', { kind: 'host', path: '/etc/x' }],
    ['workspace://out/./a', { kind: 'workspace', path: 'out/a' }],
    ['workspace://$RUN_DIR/a', { kind: 'workspace', path: 'runs/run_1/a' }],
    ['workspace:///workspace/work', { kind: 'workspace', path: 'work' }],
    ['skill://s', { kind: 'skill', skill: 's', path: '' }],
    ['skill://s/', { kind: 'skill', skill: 's', path: '' }],
    ['skill://s/a/../b/', { kind: 'skill', skill: 's', path: 'b' }],
  ])('%s is %j', (src, expected) => {
    expect(source(src)).toEqual(expected);
  });

  it.each([
    ...[
      'artifact://a@1@2',
      'artifact://a@1@',
      'artifact://',
      'out/a',
      'file:///x',
      'HOST:///x',
      '',
    ],
    ...['workspace://../x', 'workspace:///etc/x', 'workspace://x', 'workspace://out/../../x'],
    ...['skill://s/../t', 'workspace://out/a\0b'],
  ])('%j is none', (src) => {
    expect(() => source(src)).toThrow(/^inputs: src/);
  });
});

describe('a destination', () => {
  it.each([
    ['', 'work/inputs/own'],
    ['x', 'work/inputs/x'],
    ['d/x', 'work/inputs/d/x'],
    ['d/', 'work/inputs/d/own'],
    ['.', 'work/inputs/own'],
    ['inputs/x', 'work/inputs/x'],
    ['inputs', 'work/inputs/own'],
    ['work/inputs', 'work/inputs/own'],
    ['work', 'work/own'],
    ['out/', 'out/own'],
    ['out/x', 'out/x'],
    ['$OUTPUT_DIR/x', 'out/x'],
    ['${RUN_DIR}/x', 'runs/run_1/x'],
    ['/workspace/work/x', 'work/x'],
    ['work/a/../x', 'work/x'],
  ])('%j is %s', (dst, path) => {
    expect(destination(dst)).toBe(path);
  });

  it.each([
    ...['..', '../x', '../../x', 'work/../../x', 'inputs/../../../x', '/etc/x', '/workspace'],
    ...['skills/s/SKILL.md', 'work/../skills/x', '$SKILLS_DIR/x', '/workspace/skills/x', 'a\0b'],
    ...['/workspace/metadata.json', '$WORKSPACE_DIR/../x'],
  ])('%j is none', (dst) => {
    expect(() => destination(dst)).toThrow(/^inputs: dst/);
  });
});
