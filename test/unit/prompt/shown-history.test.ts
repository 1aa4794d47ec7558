import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message, ShownSkill, ToolMessage } from '../../../src/shared/contracts/index.js';
import {
  isEmpty,
  ShownContent,
  type ShownOptions,
} from '../../../src/worker/prompt/shown-content.js';
import { answer, newTurnId, user } from '../session/conversation.js';
import { openThreeSkills, type ThreeSkills } from '../tools/three-skills.js';

let three: ThreeSkills;
beforeAll(async () => (three = await openThreeSkills()));
afterAll(() => three.remove());

const [before, turnId] = [newTurnId(), newTurnId()];
const body = (skill: string, ...docs: string[]): ShownSkill => ({ skill, body: true, docs });
const only = (skill: string, ...docs: string[]): ShownSkill => ({ skill, body: false, docs });
const result = (shows: ShownSkill, turn = before): ToolMessage => ({ ...answer(turn, 'c'), shows });
const loaded = (name: string) => ({ name, docs: [], tools: [] });

const open = (history: readonly Message[], options: Partial<ShownOptions> = {}) =>
  new ShownContent({
    ...{ turnId, mode: 'session', placement: 'tool', skills: three.skills },
    ...{ initial: [loaded('alpha')], history },
    ...options,
  });

describe('a result of an earlier turn', () => {
  const history = [user(before), result(body('alpha', 'a.md')), result(only('alpha', 'b.txt'))];

  it('is filled in while its skill is loaded, in mode session alone', () => {
    const filledIn = (options: Partial<ShownOptions>) =>
      history.map((message) => open(history, options).filledIn(message));
    expect(filledIn({})).toEqual([undefined, body('alpha', 'a.md'), only('alpha', 'b.txt')]);
    const nothing = [undefined, undefined, undefined];
    expect(filledIn({ initial: [loaded('beta')] })).toEqual(nothing);
    expect(filledIn({ mode: 'turn' })).toEqual(nothing);
    expect(filledIn({ mode: 'once' })).toEqual(nothing);
    expect(filledIn({ placement: 'system' })).toEqual(nothing);
  });

  it('is a stub when the skill was loaded anew since', () => {
    const again = [...history, result(body('alpha')), result(only('alpha', 'b.txt'))];
    const shown = open(again);
    expect(again.map((message) => shown.filledIn(message))).toEqual([
      ...[undefined, undefined, undefined],
      ...[body('alpha'), only('alpha', 'b.txt')],
    ]);
    expect(shown.newly(body('alpha', 'a.md', 'b.txt'))).toMatchObject(only('alpha', 'a.md'));
  });

  it('is not shown again at the top, but for what it does not bring', () => {
    const shown = open(history);
    shown.showAtTop(body('alpha', 'a.md', 'b.txt'));
    expect(shown.system([])).toEqual([]);
    shown.showAtTop(body('alpha', 'b.txt', 'deep/c.md'));
    shown.showAtTop(body('beta'));
    expect(shown.system([])).toMatchObject([only('alpha', 'deep/c.md'), body('beta')]);
  });

  it('comes back at the top when requests hold it no longer, and only that', () => {
    const alpha = { ...body('alpha', 'a.md'), tools: ['t1'] };
    const [first, second] = [result(alpha), result({ ...only('alpha', 'b.txt'), tools: ['t2'] })];
    const shown = open([user(before), first, second]);
    const lost = shown.forget([user(before), first]);
    expect(lost).toEqual([alpha]);
    for (const each of lost) shown.showAtTop(each);
    expect(shown.system([])).toEqual([alpha]);
    const all = { ...body('alpha', 'a.md', 'b.txt'), tools: ['t1', 't2'] };
    expect(isEmpty(shown.newly(all))).toBe(true);
  });
});

describe('a result of this turn', () => {
  it('is filled in for the whole of it, in modes turn and session', () => {
    const own = result(body('beta'), turnId);
    const filledIn = (options: Partial<ShownOptions>) => open([], options).filledIn(own);
    expect(filledIn({})).toEqual(body('beta'));
    expect(filledIn({ mode: 'turn' })).toEqual(body('beta'));
    expect(filledIn({ mode: 'once' })).toBeUndefined();
    expect(filledIn({ placement: 'system' })).toBeUndefined();
    expect(open([]).filledIn(user(turnId))).toBeUndefined();
    expect(open([]).filledIn(answer(turnId, 'c'))).toBeUndefined();
  });

  it('brings each part of a skill once', () => {
    const shown = open([]);
    expect(shown.newly({ ...body('alpha', 'a.md'), tools: ['t1'] })).toEqual({
      ...body('alpha', 'a.md'),
      tools: ['t1'],
    });
    expect(shown.newly({ ...body('alpha', 'b.txt', 'a.md'), tools: ['t2', 't1'] })).toEqual({
      ...only('alpha', 'b.txt'),
      tools: ['t2'],
    });
    // A doc and a tool may have the same name, and so may those of two skills.
    expect(shown.newly({ ...only('alpha', 't1'), tools: ['a.md'] })).toEqual({
      ...only('alpha', 't1'),
      tools: ['a.md'],
    });
    expect(shown.newly(body('beta', 'a.md'))).toMatchObject(body('beta', 'a.md'));
  });
});

describe('the system message', () => {
  it('shows what is loaded, as far as it is there, when content stands in it', () => {
    const shown = open([], { placement: 'system' });
    const state = [
      { name: 'beta', docs: '*' as const, tools: [] },
      { name: 'gone', docs: [], tools: [] },
      { name: 'alpha', docs: ['b.txt', 'lost.md'], tools: [] },
    ];
    expect(shown.system(state)).toMatchObject([body('beta', 'one.md'), body('alpha', 'b.txt')]);
  });
});

it('nothing is shown by what has neither body nor docs nor tools', () => {
  expect(isEmpty(only('alpha'))).toBe(true);
  expect(isEmpty({ ...only('alpha'), tools: [] })).toBe(true);
  for (const some of [body('alpha'), only('alpha', 'a.md'), { ...only('alpha'), tools: ['t1'] }]) {
    expect(isEmpty(some)).toBe(false);
  }
});
