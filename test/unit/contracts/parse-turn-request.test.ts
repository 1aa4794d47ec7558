import { describe, expect, it } from 'vitest';
import {
  checkTurnRequest,
  parseTurnRequest,
} from '../../../src/shared/contracts/parse-turn-request.js';
import type { InputFault } from '../../../src/shared/errors/describe-issues.js';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';

function faultsOf(request: unknown): InputFault[] {
  try {
    parseTurnRequest(request);
    return [];
  } catch (error) {
    if (!(error instanceof SkillmillError)) throw error;
    expect(error.code).toBe('INPUT_INVALID');
    const faults = error.details?.['faults'] as InputFault[];
    for (const fault of faults) {
      expect(error.message).toContain(fault.path);
      expect(error.message).toContain(fault.message);
    }
    return faults;
  }
}
const pathsOf = (request: unknown) => faultsOf(request).map((fault) => fault.path);

describe('a request that is right', () => {
  it('comes back as it is', () => {
    const full = {
      sessionId: 'a.b-c_D',
      input: [
        { type: 'text', text: 'see' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      ],
      files: [
        { path: 'a/b.txt', content: '' },
        { path: 'c.bin', base64: 'AAE=' },
      ],
      skills: ['one', { name: 'two', docs: '*' }, { name: 'three', docs: ['d.md'] }],
      allowedSkills: [],
      instructions: '',
      model: 'm',
      temperature: 0,
      maxOutputTokens: 1,
      limits: { turnTimeoutMs: 1, maxModelCalls: 1, maxToolCalls: 0, maxTotalTokens: 1 },
      metadata: { a: '' },
    };
    expect(parseTurnRequest(full)).toEqual(full);
    expect(parseTurnRequest({ input: 'hi' })).toEqual({ input: 'hi' });
  });
});

describe('a request that is wrong', () => {
  it('is told every fault at once, each with its place', () => {
    const wrong = {
      sessionId: 'a/b',
      input: '',
      files: [{ path: '../x', content: 'y' }, { path: 'ok' }],
      skills: [''],
      temperature: 3,
      limits: { maxModelCalls: 0, turnTimeoutMs: 1.5 },
      metadata: { a: 1 },
    };
    expect(pathsOf(wrong)).toEqual([
      ...['sessionId', 'input', 'files[0].path', 'files[1]', 'skills[0]', 'temperature'],
      ...['limits.turnTimeoutMs', 'limits.maxModelCalls', 'metadata.a'],
    ]);
  });

  it('has no field that is not known, at any depth', () => {
    const wrong = {
      input: [{ type: 'text', text: 'x', txet: 1 }],
      limits: { timeout: 5 },
      sesionId: 'a',
      toString: 1,
    };
    expect(pathsOf(wrong).sort()).toEqual([
      'input[0].txet',
      'limits.timeout',
      'sesionId',
      'toString',
    ]);
    for (const fault of faultsOf(wrong)) expect(fault.message).toMatch(/not a known field/);
  });

  it.each([undefined, null, 5, 'hi', [], [{ input: 'x' }]])('is not %j', (request) => {
    expect(faultsOf(request)).toHaveLength(1);
  });

  it.each([
    ['text instead of an object', 5, 'input'],
    ['an unknown kind of part', [{ type: 'txt', text: 'x' }], 'input[0].type'],
    ['an empty text part', [{ type: 'text', text: '' }], 'input[0].text'],
    ['a part without its url', [{ type: 'image_url', image_url: {} }], 'input[0].image_url.url'],
    ['no part', [], 'input'],
  ])('says where in the input: %s', (_, input, path) => {
    expect(pathsOf({ input })).toEqual([path]);
  });

  it.each([
    ['bad text', { path: 'a', content: 5 }, 'files[0].content'],
    ['bad base64', { path: 'a', base64: '???' }, 'files[0].base64'],
    ['a bad path', { path: '/etc/x', base64: 'AA==' }, 'files[0].path'],
    ['neither', { path: 'a' }, 'files[0]'],
    ['two of them', { path: 'a', content: '', url: 'http://host/' }, 'files[0]'],
    ['no URL', { path: 'a', url: 'http://' }, 'files[0].url'],
    ['another scheme', { path: 'a', url: 'file:///etc/passwd' }, 'files[0].url'],
    ['a user name', { path: 'a', url: 'https://me@host/' }, 'files[0].url'],
    ['a password', { path: 'a', url: 'https://:canary@host/' }, 'files[0].url'],
    ['a short SHA-256', { path: 'a', url: 'https://host/', sha256: 'abc' }, 'files[0].sha256'],
    ['a SHA-256 of text', { path: 'a', content: '', sha256: 'a'.repeat(64) }, 'files[0].sha256'],
    ['no artifact', { path: 'a', artifact: 'out/a' }, 'files[0].artifact'],
    ['two versions', { path: 'a', artifact: 'artifact://a@1@2' }, 'files[0].artifact'],
    ['no version', { path: 'a', artifact: 'artifact://a@' }, 'files[0].artifact'],
  ])('says where in a file: %s', (_, file, path) => {
    expect([...new Set(pathsOf({ input: 'x', files: [file] }))]).toEqual([path]);
    expect(JSON.stringify(faultsOf({ input: 'x', files: [file] }))).not.toContain('canary');
  });

  it.each([
    ['a docs list that is none', { name: 'x', docs: 5 }, 'skills[0].docs'],
    ['an empty name', { name: '' }, 'skills[0].name'],
    ['no name', {}, 'skills[0].name'],
  ])('says where in a skill: %s', (_, skill, path) => {
    expect(pathsOf({ input: 'x', skills: [skill] })[0]).toBe(path);
  });

  it('names a misspelt key of a skill', () => {
    expect(pathsOf({ input: 'x', skills: [{ name: 'x', doc: ['a'] }] })).toEqual(['skills[0].doc']);
  });
  it('names an unknown key of a file', () => {
    expect(pathsOf({ input: 'x', files: [{ path: 'a', content: '', mode: 1 }] })).toEqual([
      'files[0].mode',
    ]);
  });

  it.each([
    '/a',
    '../a',
    'a/../b',
    'a//b',
    './a',
    'a/',
    'a\\b',
    'a\0',
    'a\nb',
    '',
    '..',
    '.',
    'a\u007f',
  ])('has no file path like %j', (path) => {
    expect(new Set(pathsOf({ input: 'x', files: [{ path, content: '' }] }))).toEqual(
      new Set(['files[0].path']),
    );
  });

  it.each([[['a', 'a']], [['a', 'b', 'a/c']], [['a/b/c', 'a/b']]])(
    'names no file twice, nor one as another’s folder: %j',
    (paths) => {
      const files = paths.map((path) => ({ path, content: '' }));
      expect(pathsOf({ input: 'x', files })).toEqual(['files']);
    },
  );

  it('may have names that only look alike', () => {
    const files = ['a', 'A', 'a.b', 'ab', 'toString/x', '__proto__'].map((path) => ({
      path,
      content: '',
    }));
    expect(pathsOf({ input: 'x', files })).toEqual([]);
  });
});

describe('an artifact as a file', () => {
  const files = [
    { path: 'a', content: 'x' },
    { path: 'b', artifact: 'artifact://out/b' },
  ];

  it('is refused without a session, beside whatever else is wrong', () => {
    expect(checkTurnRequest({ input: 'x', files }).faults).toEqual([
      { path: 'files[1].artifact', message: 'needs sessionId: a new session has none' },
    ]);
    const paths = checkTurnRequest({ input: '', files }).faults.map(({ path }) => path);
    expect(paths.sort()).toEqual(['files[1].artifact', 'input']);
  });

  it('is taken with one', () => {
    expect(checkTurnRequest({ input: 'x', sessionId: 's', files }).faults).toEqual([]);
  });
});
