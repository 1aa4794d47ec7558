import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { listedBefore, toListedField } from '../../../src/worker/session/listed-tools.js';
import {
  fromStateHash,
  keepRecent,
  toStateHash,
  type SkillState,
} from '../../../src/worker/session/skill-state.js';
import type { TurnSkills } from '../../../src/worker/skills/turn-skills.js';
import { TurnToolbox, type ToolExposure } from '../../../src/worker/toolbox/turn-toolbox.js';
import { skillTools } from '../../../src/worker/tools/skill-tools.js';
import { SelectModel } from './select-model.js';
import { skillCall, type SkillCall } from './skill-calls.js';
import { contextOf, openThreeSkills, toolbox, toolboxNames } from './three-skills.js';

let skills: TurnSkills;
let remove: () => Promise<void>;
beforeAll(async () => ({ skills, remove } = await openThreeSkills()));
afterAll(() => remove());

interface SessionRules {
  readonly exposure: ToolExposure;
  readonly limit: number;
}
/** Tools that a turn may use; undefined: all. */
type Allowed = readonly string[] | undefined;

/** A session with the product's own parts. */
class RealSession {
  state: SkillState = [];
  toolbox: TurnToolbox;
  readonly loads: string[] = [];
  private readonly rules: SessionRules;

  constructor(rules: SessionRules, allowed: Allowed) {
    this.rules = rules;
    this.toolbox = this.openToolbox(allowed, []);
  }

  /** What a call answers, or what it is refused with. */
  async call({ tool, args }: SkillCall) {
    const called = skillTools('full').find(({ definition }) => definition.name === tool);
    const context = contextOf({
      ...{ skills, toolbox: this.toolbox, get: () => this.state },
      set: (state) => (this.state = keepRecent(state, this.rules.limit)),
      onSkillUsed: (name, how) => this.loads.push(how === 'loaded' ? name : how),
    });
    try {
      const outcome = await called?.run(args, context);
      return { result: outcome?.result, shows: outcome?.shows };
    } catch (error) {
      if (error instanceof SkillmillError) return error.toPublic();
      throw error;
    }
  }

  /** Ends the turn and begins the next one, with all that is kept in between. */
  nextTurn(allowed: Allowed): void {
    const kept = { ...toStateHash(this.state), ...toListedField(this.toolbox.listedNames) };
    this.state = fromStateHash(kept);
    this.toolbox = this.openToolbox(allowed, listedBefore(kept));
  }

  private openToolbox(allowed: Allowed, before: readonly string[]): TurnToolbox {
    const { exposure } = this.rules;
    const state = () => this.state;
    return new TurnToolbox({ toolbox, allowed, exposure, skills, state, listedBefore: before });
  }
}

const containing = (word: string): unknown => expect.stringContaining(word);

type Command = fc.AsyncCommand<SelectModel, RealSession>;

/** What must hold after whatever was done. */
function agree(model: SelectModel, real: RealSession): void {
  const hash = toStateHash(real.state);
  expect(hash).toEqual(model.hash());
  expect(fromStateHash(hash)).toEqual(real.state);
  expect(real.toolbox.active()).toEqual(model.active());
  const callable = toolboxNames.filter((name) => real.toolbox.get(name) !== undefined);
  expect(new Set(callable)).toEqual(new Set(model.active()));
  expect(real.loads).toEqual(model.loads);
}

const calls = skillCall.map((call): Command => ({
  check: () => true,
  async run(model, real) {
    const before = real.state;
    const expected = model.answer(call);
    const answered = await real.call(call);
    if ('code' in expected) {
      expect(answered).toMatchObject({ code: expected.code });
      for (const word of expected.words)
        expect(answered).toHaveProperty('message', containing(word));
      expect(real.state).toBe(before);
    } else {
      // As text: the order of the fields is tRPC-Agent's too.
      expect(JSON.stringify(answered)).toBe(JSON.stringify(expected));
    }
    agree(model, real);
  },
  toString: () => `${call.tool}(${JSON.stringify(call.args)})`,
}));

const requests = fc.constant<Command>({
  check: () => true,
  run(model, real) {
    const before = real.toolbox.listedNames;
    const names = real.toolbox.listed().map((tool) => tool.name);
    expect(names).toEqual(model.listed());
    // Nothing that was listed once is lost to the session, also when this turn may not use it.
    const { listedNames } = real.toolbox;
    expect(listedNames.slice(0, before.length)).toEqual(before);
    expect(listedNames.filter((name) => real.toolbox.has(name))).toEqual(names);
    return Promise.resolve();
  },
  toString: () => 'request()',
});

const allowedTools: fc.Arbitrary<Allowed> = fc.option(
  fc.subarray([...toolboxNames, 'ghost', 'elsewhere']),
  { nil: undefined },
);
const usableOf = (allowed: Allowed) =>
  [...toolboxNames].sort().filter((name) => allowed === undefined || allowed.includes(name));

const turns = allowedTools.map((allowed): Command => ({
  check: () => true,
  run(model, real) {
    real.nextTurn(allowed);
    model.nextTurn(usableOf(allowed));
    agree(model, real);
    return Promise.resolve();
  },
  toString: () => `nextTurn(${JSON.stringify(allowed)})`,
}));

const steps = fc.commands([calls, calls, calls, calls, requests, turns], {
  maxCommands: 30,
  size: 'max',
});
describe.each<ToolExposure>(['native', 'dispatch'])('a session with exposure %s', (exposure) => {
  it('does what its model says, whatever is loaded and selected in whatever order', async () => {
    const property = fc.asyncProperty(
      ...[steps, allowedTools, fc.nat(3)],
      async (commands, allowed, limit) => {
        const dispatch = exposure === 'dispatch';
        const model = new SelectModel({ limit, usable: usableOf(allowed), dispatch });
        const real = new RealSession({ exposure, limit }, allowed);
        await fc.asyncModelRun(() => ({ model, real }), commands);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });
});
