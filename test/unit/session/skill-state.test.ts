import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  emptySkillState,
  fromStateHash,
  keepRecent,
  loadSkill,
  select,
  selectOf,
  toStateHash,
  type Selection,
  type SkillState,
} from '../../../src/worker/session/skill-state.js';

const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.constantFrom('*', 'order', '__proto__', 'a:b', 'loaded_order', 'ü'),
);
const selection: fc.Arbitrary<Selection> = fc.oneof(
  fc.constant('*' as const),
  fc.uniqueArray(name, { maxLength: 4 }),
);
const anyState: fc.Arbitrary<SkillState> = fc.uniqueArray(
  fc.record({ name, docs: selection, tools: selection }),
  { maxLength: 6, selector: (loaded) => loaded.name },
);

describe('the state as a hash', () => {
  it('comes back as it was, order and odd names included', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const hash = toStateHash(state);
        expect(fromStateHash(hash)).toEqual(state);
        expect(toStateHash(fromStateHash(hash))).toEqual(hash);
      }),
    );
  });

  it('has the fields of DESIGN §4.4', () => {
    const state = [
      { name: 'a', docs: '*' as const, tools: ['t'] },
      { name: 'b', docs: [], tools: [] },
    ];
    expect(toStateHash(state)).toEqual({
      'temp:skill:loaded:a': '1',
      'temp:skill:docs:a': '*',
      'temp:skill:tools:a': '["t"]',
      'temp:skill:loaded:b': '1',
      'temp:skill:docs:b': '[]',
      'temp:skill:tools:b': '[]',
      'temp:skill:loaded_order': '["a","b"]',
    });
    expect(toStateHash(emptySkillState)).toEqual({});
    expect(fromStateHash({})).toEqual([]);
  });

  it('holds no skill that is not loaded, and none without its place in the order', () => {
    const order = { 'temp:skill:loaded_order': '["a","b"]' };
    expect(fromStateHash({ ...order, 'temp:skill:loaded:b': '1' })).toEqual([
      { name: 'b', docs: [], tools: [] },
    ]);
    expect(fromStateHash({ 'temp:skill:loaded:a': '1' })).toEqual([]);
  });
});

describe('loadSkill', () => {
  it('keeps what was selected when a skill is loaded again, and puts it last', () => {
    const first = loadSkill(emptySkillState, 'a', { docs: ['d'], tools: ['t'] });
    const second = loadSkill(loadSkill(first, 'b', { tools: '*' }), 'a', { tools: ['other'] });
    expect(second).toEqual([
      { name: 'b', docs: [], tools: '*' },
      { name: 'a', docs: ['d'], tools: ['t'] },
    ]);
    expect(loadSkill(second, 'a', { docs: [], tools: [] }).at(-1)?.docs).toEqual([]);
  });

  it('never holds a skill twice, loses none, and ends with the one loaded last', () => {
    fc.assert(
      fc.property(anyState, fc.array(name, { minLength: 1 }), (start, loads) => {
        const end = loads.reduce<SkillState>((s, n) => loadSkill(s, n, { tools: [] }), start);
        const names = end.map((loaded) => loaded.name);
        expect(new Set(names).size).toBe(names.length);
        expect(new Set(names)).toEqual(new Set([...start.map((s) => s.name), ...loads]));
        expect(names.at(-1)).toBe(loads.at(-1));
      }),
    );
  });
});

describe('select', () => {
  it.each<[Selection, Parameters<typeof select>[1], Parameters<typeof select>[2], Selection]>([
    [['a'], 'add', { names: ['b', 'a', 'b'], all: false }, ['a', 'b']],
    ['*', 'add', { names: ['b'], all: false }, '*'],
    [['a'], 'add', { names: [], all: true }, '*'],
    ['*', 'replace', { names: ['b', 'b'], all: false }, ['b']],
    [['a'], 'replace', { names: ['b'], all: true }, '*'],
    ['*', 'clear', { names: ['b'], all: true }, []],
  ])('%j %s %j is %j', (before, mode, given, after) => {
    expect(select(before, mode, given)).toEqual(after);
  });

  it('of a skill changes only that one and touches it; one that is not loaded stays so', () => {
    const [a, b] = [
      { name: 'a', docs: [], tools: ['t'] },
      { name: 'b', docs: '*' as const, tools: [] },
    ];
    expect(selectOf([a, b], 'a', { docs: ['d'] })).toEqual([b, { ...a, docs: ['d'] }]);
    expect(selectOf([a, b], 'c', { docs: ['d'] })).toEqual([a, b]);
  });

  it('keeps the last used, all of them without a limit', () => {
    const state = ['a', 'b', 'c'].map((n) => ({ name: n, docs: [], tools: [] }));
    const namesOf = (max: number) => keepRecent(state, max).map((loaded) => loaded.name);
    expect([namesOf(0), namesOf(2), namesOf(9)]).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c'],
      ['a', 'b', 'c'],
    ]);
  });
});
