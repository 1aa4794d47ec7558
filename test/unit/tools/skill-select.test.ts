import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { emptySkillState, type SkillState } from '../../../src/worker/session/skill-state.js';
import type { TurnSkills } from '../../../src/worker/skills/turn-skills.js';
import { TurnToolbox, type ToolExposure } from '../../../src/worker/toolbox/turn-toolbox.js';
import { skillTools } from '../../../src/worker/tools/skill-tools.js';
import { contextOf, openThreeSkills, toolbox, type ThreeSkills } from './three-skills.js';

let three: ThreeSkills;
beforeAll(async () => (three = await openThreeSkills()));
afterAll(() => three.remove());

let skills: TurnSkills;
let state: SkillState;
beforeEach(() => ({ skills, state } = { skills: three.skills, state: emptySkillState }));

const allowed = ['t1', 't2', 't3'];
async function run(tool: string, args: unknown, exposure: ToolExposure = 'native') {
  const [called] = skillTools('full').filter(({ definition }) => definition.name === tool);
  const open = { toolbox, allowed, exposure, skills, state: () => state, listedBefore: [] };
  const set = (next: SkillState) => (state = next);
  const context = contextOf({ skills, toolbox: new TurnToolbox(open), get: () => state, set });
  return called?.run(args, context);
}
const load = (skill_name: string, more = {}) => run('skill_load', { skill_name, ...more });
const docs = (skill_name: string, more = {}) => run('skill_select_docs', { skill_name, ...more });
const tools = (skill_name: string, more = {}) => run('skill_select_tools', { skill_name, ...more });
const failureOf = async (work: Promise<unknown>) =>
  SkillmillError.from(
    await work.then(
      () => 'nothing failed',
      (error: unknown) => error,
    ),
  ).toPublic();

describe('skill_load', () => {
  it('answers as tRPC-Agent does, and leaves the text to the request', async () => {
    expect(await load('alpha', { docs: ['b.txt'] })).toEqual({
      result: "skill 'alpha' loaded",
      shows: { skill: 'alpha', body: true, docs: ['b.txt'], tools: [] },
    });
    expect(state).toEqual([{ name: 'alpha', docs: ['b.txt'], tools: ['t2', 't1', 'ghost'] }]);
  });

  it('again without docs leaves what is selected, and brings it', async () => {
    await load('alpha', { docs: ['b.txt'] });
    await tools('alpha', { tools: ['t1'] });
    const again = await load('alpha');
    expect(again?.shows).toMatchObject({ docs: ['b.txt'] });
    expect(state).toEqual([{ name: 'alpha', docs: ['b.txt'], tools: ['t1'] }]);
    await load('alpha', { docs: [] });
    expect(state).toEqual([{ name: 'alpha', docs: [], tools: ['t1'] }]);
  });

  it('shows the schemas of the tools only when no list of tools has them', async () => {
    const dispatched = await run('skill_load', { skill_name: 'beta' }, 'dispatch');
    expect(dispatched?.shows).toMatchObject({ tools: ['t2', 't3'] });
  });

  it('takes a name with blanks around it', async () => {
    expect(await load(' alpha\n')).toMatchObject({ result: "skill 'alpha' loaded" });
  });

  it('takes null for nothing given, and doc names with blanks around them', async () => {
    expect(await load('alpha', { docs: null, include_all_docs: null })).toMatchObject({
      result: "skill 'alpha' loaded",
    });
    await load('alpha', { docs: [' a.md'] });
    expect(state).toMatchObject([{ docs: ['a.md'] }]);
  });

  it('takes a doc that is named twice once', async () => {
    const loaded = await load('alpha', { docs: ['a.md', 'a.md'] });
    expect(state).toMatchObject([{ docs: ['a.md'] }]);
    expect(loaded?.shows).toMatchObject({ docs: ['a.md'] });
  });

  it('refuses docs that there are not, naming those that there are', async () => {
    expect(await failureOf(load('alpha', { docs: ['b.md', 'a.md', 'one.md'] }))).toMatchObject({
      code: 'TOOL_INPUT_INVALID',
      message:
        'The skill alpha has no document "b.md", "one.md"; there are a.md, b.txt, deep/c.md.',
    });
    expect((await failureOf(load('gamma', { docs: ['a.md'] }))).message).toBe(
      'The skill gamma has no document "a.md"; there is none.',
    );
    expect(state).toBe(emptySkillState);
  });

  it('refuses a skill that there is not, naming what may be meant', async () => {
    expect((await failureOf(load('ALPHA'))).message).toBe(
      'There is no skill "ALPHA". Did you mean alpha?',
    );
    expect((await failureOf(load('nowhere'))).message).toBe(
      'There is no skill "nowhere". There are: alpha, beta, gamma.',
    );
  });
});

describe('a selection', () => {
  it('is added to in order, without doubles', async () => {
    await load('alpha');
    await docs('alpha', { docs: ['b.txt'], mode: 'add' });
    const { result } =
      (await docs('alpha', { docs: ['a.md', 'b.txt', 'a.md'], mode: 'add' })) ?? {};
    expect(JSON.stringify(result)).toBe(
      '{"skill":"alpha","mode":"add","selected_docs":["b.txt","a.md"],"include_all_docs":false}',
    );
  });

  it('stands for all until it is narrowed', async () => {
    await load('alpha', { include_all_docs: true });
    const all = { selected_docs: ['a.md', 'b.txt', 'deep/c.md'], include_all_docs: true };
    expect(await docs('alpha', { docs: ['a.md'], mode: 'add' })).toMatchObject({ result: all });
    expect(await docs('alpha', { docs: ['a.md'] })).toEqual({
      result: {
        ...{ skill: 'alpha', mode: 'replace' },
        ...{ selected_docs: ['a.md'], include_all_docs: false },
      },
      shows: { skill: 'alpha', body: false, docs: ['a.md'] },
    });
  });

  it('of tools may go beyond what the skill names, never beyond what the turn may use', async () => {
    await load('alpha');
    const { result } = (await tools('alpha', { tools: ['t3'], mode: 'add' })) ?? {};
    expect(JSON.stringify(result)).toBe(
      '{"skill":"alpha","mode":"add","selected_tools":["t2","t1","ghost","t3"],"include_all_tools":false}',
    );
    expect((await failureOf(tools('alpha', { tools: ['t5'] }))).message).toBe(
      'The skill alpha has no tool "t5"; there are t2, t1, ghost, t3.',
    );
  });

  it('is cleared whatever else is asked', async () => {
    await load('alpha', { docs: ['a.md'] });
    await docs('alpha', { mode: 'clear', include_all_docs: true });
    await tools('alpha', { mode: 'clear', tools: ['t1'] });
    expect(state).toEqual([{ name: 'alpha', docs: [], tools: [] }]);
  });

  it('needs the skill to be loaded', async () => {
    for (const select of [docs, tools]) {
      expect(await failureOf(select('alpha', { docs: ['nothing.md'] }))).toMatchObject({
        code: 'SKILL_NOT_LOADED',
        message: 'The skill alpha is not loaded; call skill_load first.',
      });
    }
  });

  it('tells of every argument that is wrong', async () => {
    const wrong = { skill_name: '', tools: 't1', include_all_tools: 'yes', mode: 'merge' };
    const { code, message } = await failureOf(run('skill_select_tools', wrong));
    expect(code).toBe('TOOL_INPUT_INVALID');
    for (const name of Object.keys(wrong)) expect(message).toContain(`${name}: `);
    expect((await failureOf(run('skill_select_docs', []))).code).toBe('TOOL_INPUT_INVALID');
  });
});

describe('a skill that the turn may not see', () => {
  it('is answered exactly as one that there is not', async () => {
    await load('alpha');
    skills = three.only(['beta']);
    const [hidden, missing] = await Promise.all(
      ['alpha', 'delta'].map(async (name) => {
        const all = [failureOf(load(name)), failureOf(docs(name)), failureOf(tools(name))];
        return JSON.stringify(await Promise.all(all)).replaceAll(name, 'NAME');
      }),
    );
    expect(hidden).toBe(missing);
    expect(hidden?.match(/SKILL_NOT_FOUND/g)).toHaveLength(3);
  });
});
