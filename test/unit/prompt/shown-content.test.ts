import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelMessage } from '../../../src/worker/model/model.js';
import type { ContentPlacement, LoadMode } from '../../../src/worker/prompt/shown-content.js';
import type { ToolExposure } from '../../../src/worker/toolbox/turn-toolbox.js';
import { skillCall, type SkillCall } from '../tools/skill-calls.js';
import { openThreeSkills, type ThreeSkills } from '../tools/three-skills.js';
import { SkillTalk, textsOf, wholeText, type TalkRequest, type TalkRules } from './skill-talk.js';

let three: ThreeSkills;
beforeAll(async () => (three = await openThreeSkills()));
afterAll(() => three.remove());

const openTalk = (rules: Partial<TalkRules> = {}) =>
  new SkillTalk(three.skills, {
    ...{ mode: 'turn', placement: 'tool', exposure: 'native', limit: 0 },
    ...rules,
  });
const exposures: ToolExposure[] = ['native', 'dispatch'];
const modes: LoadMode[] = ['turn', 'session', 'once'];
const placements: ContentPlacement[] = ['tool', 'system'];

const mode = fc.constantFrom(...modes);

/** Turns of replies of calls. */
const session = fc.array(
  fc.array(fc.array(skillCall, { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
  { minLength: 1, maxLength: 3 },
);

/** Carries a session out; `look` sees each request with the number of its turn. */
async function carryOut(
  talk: SkillTalk,
  turns: readonly (readonly (readonly SkillCall[])[])[],
  look: (request: TalkRequest, turn: number) => void,
): Promise<void> {
  for (const [turn, replies] of turns.entries()) {
    if (turn > 0) await talk.nextTurn();
    look(talk.request(), turn);
    for (const calls of replies) {
      await talk.reply(calls);
      look(talk.request(), turn);
    }
  }
}

const expectSameStart = (former: readonly ModelMessage[], next: readonly ModelMessage[]) =>
  expect(JSON.stringify(next.slice(0, former.length))).toBe(JSON.stringify(former));

/** How often each of these texts stands in a request. */
const countsOf = ({ messages }: TalkRequest, texts: readonly string[]) =>
  Object.fromEntries(texts.map((text) => [text, wholeText(messages).split(text).length - 1]));

describe.each(exposures)('with exposure %s', (exposure) => {
  it.each(modes)('a request begins with all that stays of the one before: %s', async (how) => {
    const property = fc.asyncProperty(session, fc.nat(2), async (turns, dropTo) => {
      // What is dropped in a turn is not shown again in the next one.
      const limit = how === 'session' && turns.length > 1 ? 0 : dropTo;
      const talk = openTalk({ mode: how, exposure, limit });
      const before = { turn: -1, lasting: [] as readonly ModelMessage[] };
      await carryOut(talk, turns, ({ messages, lasting }, turn) => {
        if (turn === before.turn || how === 'session') expectSameStart(before.lasting, messages);
        Object.assign(before, { turn, lasting });
      });
    });
    await fc.assert(property);
  });

  it.each(placements)('a request shows once what is loaded and selected: %s', async (placement) => {
    const property = fc.asyncProperty(session, mode, fc.nat(2), async (turns, how, limit) => {
      await carryOut(openTalk({ mode: how, placement, exposure, limit }), turns, (request) => {
        for (const shown of request.selected) {
          const texts = textsOf({ ...shown, tools: [] });
          const once = Object.fromEntries(texts.map((text) => [text, 1]));
          expect(countsOf(request, texts)).toEqual(once);
        }
      });
    });
    await fc.assert(property);
  });

  // Mode once shows what is selected when the request is made, the whole of it: the property above.
  it.each(modes.filter((how) => how !== 'once'))(
    'a request shows what the results before it brought: %s',
    async (how) => {
      const property = fc.asyncProperty(session, async (turns) => {
        await carryOut(openTalk({ mode: how, exposure }), turns, (request) => {
          const text = wholeText(request.messages);
          for (const brought of request.brought.flatMap(textsOf)) expect(text).toContain(brought);
        });
      });
      await fc.assert(property);
    },
  );
});

it.each(placements)('what may be called by skill_tool is described: %s', async (placement) => {
  const property = fc.asyncProperty(session, mode, async (turns, how) => {
    const talk = openTalk({ mode: how, placement, exposure: 'dispatch' });
    await carryOut(talk, turns, (request) => {
      const text = wholeText(request.messages);
      const schemas = request.selected.flatMap((shown) =>
        textsOf({ ...shown, body: false, docs: [] }),
      );
      for (const schema of schemas) expect(text).toContain(schema);
    });
  });
  await fc.assert(property);
});

describe('mode once', () => {
  const load = (skill_name: string, docs?: string[]): SkillCall => ({
    tool: 'skill_load',
    args: { skill_name, ...(docs === undefined ? {} : { docs }) },
  });
  const names = (request: TalkRequest) =>
    [...wholeText(request.messages).matchAll(/\[Loaded\] (\w+)/g)].map(([, name]) => name);

  it.each(placements)('shows what is loaded in one request: %s', async (placement) => {
    const talk = openTalk({ mode: 'once', placement });
    await talk.reply([load('alpha'), load('beta')]);
    expect(names(talk.request())).toEqual(['alpha', 'beta']);
    const after = talk.request();
    expect([names(after), after.selected]).toEqual([[], []]);
    await talk.reply([load('alpha', ['a.md'])]);
    expect(wholeText(talk.request().messages)).toContain('[Doc] a.md');
  });

  it.each(placements)(
    'shows each of two that are loaded one after the other: %s',
    async (placement) => {
      const talk = openTalk({ mode: 'once', placement });
      await talk.reply([load('alpha')]);
      expect(names(talk.request())).toEqual(['alpha']);
      await talk.reply([load('beta')]);
      expect(names(talk.request())).toEqual(['beta']);
      expect(names(talk.request())).toEqual([]);
    },
  );

  it.each(placements)('shows once more what is loaded again: %s', async (placement) => {
    const talk = openTalk({ mode: 'once', placement });
    await talk.reply([load('alpha')]);
    talk.request();
    await talk.reply([load('alpha')]);
    expect(names(talk.request())).toEqual(['alpha']);
    expect(names(talk.request())).toEqual([]);
  });
});
