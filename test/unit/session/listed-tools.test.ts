import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listedBefore, toListedField } from '../../../src/worker/session/listed-tools.js';
import { fromStateHash, toStateHash } from '../../../src/worker/session/skill-state.js';

it('listed tools come back in their order', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 8 });
  const property = fc.property(names, (listed) => {
    expect(listedBefore(toListedField(listed))).toEqual(listed);
  });
  fc.assert(property);
});

it('none leave no field behind, and no field is none', () => {
  expect(toListedField([])).toEqual({});
  expect(listedBefore({})).toEqual([]);
});

it('they lie beside the skill state, and neither reads the other', () => {
  const state = [{ name: 'listed_tools', docs: '*' as const, tools: ['t'] }];
  const listed = toListedField(['t2', 't1']);
  expect(listed).toEqual({ 'skill:listed_tools': '["t2","t1"]' });
  const kept = { ...toStateHash(state), ...listed };
  expect(Object.keys(kept)).toHaveLength(5);
  expect(fromStateHash(kept)).toEqual(state);
  expect(listedBefore(kept)).toEqual(['t2', 't1']);
});
