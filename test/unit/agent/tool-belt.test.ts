import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { createToolBelt } from '../../../src/worker/agent/tool-belt.js';
import type { SkillState } from '../../../src/worker/session/skill-state.js';
import type { BusinessTool } from '../../../src/worker/toolbox/business-tool.js';
import { TurnToolbox, type ToolExposure } from '../../../src/worker/toolbox/turn-toolbox.js';
import { skillTools } from '../../../src/worker/tools/skill-tools.js';
import { contextOf, openThreeSkills, toolbox, type ThreeSkills } from '../tools/three-skills.js';

let three: ThreeSkills;
beforeAll(async () => (three = await openThreeSkills()));
afterAll(() => three.remove());

const alpha = { name: 'alpha', docs: [], tools: '*' as const };
let state: SkillState;
beforeEach(() => (state = [alpha]));

const turn = { turnId: 'turn_1', sessionId: 's', tenant: 'default' };
const skillNames = skillTools('full').map(({ definition }) => definition.name);

interface Wearing {
  readonly exposure?: ToolExposure;
  readonly pool?: ReadonlyMap<string, BusinessTool>;
  readonly allowed?: readonly string[];
}
function wear({ exposure = 'native', pool = toolbox, allowed }: Wearing = {}) {
  const { skills } = three;
  const opened = { toolbox: pool, allowed, exposure, skills, listedBefore: [] };
  const turnToolbox = new TurnToolbox({ ...opened, state: () => state });
  const belt = createToolBelt({ skillTools: skillTools('full'), toolbox: turnToolbox, turn });
  const set = (next: SkillState) => (state = next);
  const context = contextOf({ skills, toolbox: turnToolbox, get: () => state, set });
  return {
    belt,
    context,
    names: () => belt.definitions().map(({ name }) => name),
    run: async (name: string, args: unknown = {}) => belt.resolve(name).run(args, context),
  };
}
const failureOf = async (work: Promise<unknown>) =>
  SkillmillError.from(
    await work.then(
      () => 'it did not fail',
      (error: unknown) => error,
    ),
  ).toPublic();

describe('what a request lists', () => {
  it('is the skill tools, then the active tools of the toolbox', () => {
    expect(wear().names()).toEqual([...skillNames, 't2', 't1']);
    state = [];
    expect(wear().names()).toEqual(skillNames);
  });

  it('keeps what was active once', () => {
    const { names } = wear();
    names();
    state = [{ name: 'beta', docs: [], tools: ['t3'] }];
    expect(names()).toEqual([...skillNames, 't2', 't1', 't3']);
  });

  it('never changes with exposure dispatch', () => {
    const { names } = wear({ exposure: 'dispatch' });
    expect(names()).toEqual([...skillNames, 'skill_tool']);
    state = [];
    expect(names()).toEqual([...skillNames, 'skill_tool']);
  });

  it('is described to the model by the tools that are always listed', () => {
    const namesOf = (exposure: ToolExposure) =>
      wear({ exposure }).belt.skillTools.map(({ definition }) => definition.name);
    expect(namesOf('native')).toEqual(skillNames);
    expect(namesOf('dispatch')).toEqual([...skillNames, 'skill_tool']);
  });

  it('has no skill_tool where there is nothing to call with it', () => {
    expect(wear({ exposure: 'dispatch', pool: new Map() }).names()).toEqual(skillNames);
    expect(wear({ exposure: 'dispatch', allowed: ['elsewhere'] }).names()).toEqual(skillNames);
  });
});

describe('a call', () => {
  it('of a skill tool comes to it', async () => {
    expect(await wear().run('skill_list')).toEqual({ result: ['alpha', 'beta', 'gamma'] });
  });

  it('of an active tool comes to it with what is known of the call', async () => {
    const seen: unknown[] = [];
    const definition = { name: 't1', description: '', parameters: {} };
    const run: BusinessTool['run'] = (...given) => Promise.resolve(seen.push(...given));
    const worn = wear({ pool: new Map([['t1', { definition, run }]]) });
    expect(await worn.run('t1', { x: 1 })).toEqual({ result: 2 });
    const { signal } = worn.context;
    expect(seen).toEqual([{ x: 1 }, { ...turn, callKey: 'turn_1_call_1', signal }]);
    expect(worn.belt.resolve('t1').definition).toBe(definition);
  });

  it('of a tool that does not mind its signal ends with the turn all the same', async () => {
    const definition = { name: 't1', description: '', parameters: {} };
    const run: BusinessTool['run'] = () => new Promise(() => undefined);
    const { belt, context } = wear({ pool: new Map([['t1', { definition, run }]]) });
    const turnEnd = new AbortController();
    const calling = belt.resolve('t1').run({}, { ...context, signal: turnEnd.signal });
    turnEnd.abort(new Error('the turn is over'));
    await expect(calling).rejects.toThrow('the turn is over');
  });

  it('of a tool that is not active is answered with those that are', async () => {
    const { run } = wear();
    expect(await failureOf(run('t3'))).toMatchObject({
      code: 'TOOL_NOT_ACTIVE',
      message:
        'The tool "t3" is not active. Active are: t2, t1. Load a skill that names it, or add it with skill_select_tools.',
    });
    state = [];
    expect((await failureOf(run('t2'))).message).toContain('Active are: none.');
  });

  it('of a tool that was active before is answered like any other', async () => {
    const { names, run } = wear();
    expect(names()).toContain('t1');
    state = [{ ...alpha, tools: ['t2'] }];
    expect(names()).toContain('t1');
    expect(await failureOf(run('t1'))).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
    expect(await run('t2')).toEqual({ result: 't2' });
  });

  it('of a tool that there is not is answered with those that may be called', async () => {
    const { run } = wear();
    expect(await failureOf(run('none'))).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      message: `There is no tool "none"; there are ${[...skillNames, 't2', 't1'].join(', ')}.`,
    });
    expect(await failureOf(run('skill_tool'))).toMatchObject({ code: 'TOOL_NOT_FOUND' });
    expect(await failureOf(run('ghost'))).toMatchObject({ code: 'TOOL_NOT_FOUND' });
    expect((await failureOf(run('x'.repeat(9000)))).message.length).toBeLessThan(400);
  });

  it('of a tool that the turn may not use is answered as one that there is not', async () => {
    const { run } = wear({ allowed: ['t2'] });
    const [hidden, missing] = [await failureOf(run('t1')), await failureOf(run('zz'))];
    expect(hidden).toEqual({ ...missing, message: missing.message.replace('zz', 't1') });
    expect(await run('t2')).toEqual({ result: 't2' });
  });
});

describe('skill_tool', () => {
  it('calls an active tool, with no arguments when there are none', async () => {
    const seen: unknown[] = [];
    const definition = { name: 't1', description: '', parameters: {} };
    const run: BusinessTool['run'] = (args) => Promise.resolve(seen.push(args));
    const worn = wear({ exposure: 'dispatch', pool: new Map([['t1', { definition, run }]]) });
    await worn.run('skill_tool', { name: 't1', arguments: { x: 1, y: [2] } });
    await worn.run('skill_tool', { name: ' t1 ' });
    expect(seen).toEqual([{ x: 1, y: [2] }, {}]);
  });

  it('calls none that is not active, and no tool but those of the toolbox', async () => {
    const { run } = wear({ exposure: 'dispatch' });
    for (const name of ['t3', 'none', 'skill_list', 'skill_tool']) {
      const failure = await failureOf(run('skill_tool', { name }));
      expect(failure).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
      expect(failure.message).toContain('Active are: t2, t1.');
    }
    expect(await failureOf(run('skill_tool', { arguments: [] }))).toMatchObject({
      code: 'TOOL_INPUT_INVALID',
      message: expect.stringMatching(/name: .*arguments: /) as unknown,
    });
  });

  it('is not needed by a model that calls the tool itself', async () => {
    expect(await wear({ exposure: 'dispatch' }).run('t1')).toEqual({ result: 't1' });
  });
});

describe('calls that a model makes together', () => {
  it('may run beside each other unless a tool says no, or changes what is loaded', () => {
    const alone = { ...toolbox.get('t1'), parallel: false } as BusinessTool;
    const { belt } = wear({ pool: new Map([...toolbox, ['t1', alone]]) });
    const names = [...skillNames, 't1', 't2', 't3', 'none'];
    const together = names.filter((name) => belt.isParallel(name));
    expect(together).toEqual(['skill_list', 'skill_list_tools', 'skill_list_docs', 't2']);
  });
});
