import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ShownSkill } from '../../../src/shared/contracts/index.js';
import { LoadedContent } from '../../../src/worker/prompt/loaded-content.js';
import { tokensOf } from '../../../src/worker/prompt/token-budget.js';
import type { TurnSkills } from '../../../src/worker/skills/turn-skills.js';
import { openThreeSkills, toolbox, type ThreeSkills } from '../tools/three-skills.js';

let three: ThreeSkills;
beforeAll(async () => {
  three = await openThreeSkills();
  await tokensOf('any'); // the tokenizer takes its time to load
});
afterAll(() => three.remove());

const open = (skills: TurnSkills = three.skills, budgets = {}) =>
  new LoadedContent(skills, { bodyTokens: 1000, docTokens: 1000, ...budgets }, (name) => {
    const definition = toolbox.get(name)?.definition;
    return definition === undefined ? [] : [definition];
  });
async function textOf(shown: ShownSkill, content = open()): Promise<string> {
  await content.prepare(shown);
  return content.textOf(shown);
}
const all = ['a.md', 'b.txt', 'deep/c.md'];
const alpha = 'I am alpha in $SKILLS_DIR/alpha.\nTools:\n- t2\n- t1\n- ghost';

describe('loaded content', () => {
  it('is the body under its mark, then what else there is to read', async () => {
    expect(await textOf({ skill: 'alpha', body: true, docs: [] })).toBe(
      `[Loaded] alpha\n\n${alpha}\n\nDocuments of this skill: a.md, b.txt, deep/c.md`,
    );
    expect(await textOf({ skill: 'gamma', body: true, docs: [] })).toBe(
      '[Loaded] gamma\n\nI am gamma in $SKILLS_DIR/gamma.',
    );
  });

  it('names what else there is to read only when there is something', async () => {
    const whole = await textOf({ skill: 'alpha', body: true, docs: all });
    expect(whole).not.toContain('Documents of this skill');
    expect(whole.endsWith('[Doc] deep/c.md\n\nThis is deep/c.md of alpha.')).toBe(true);
  });

  it('is docs and schemas in the order in which they are asked for', async () => {
    const shown = { skill: 'alpha', body: false, docs: ['b.txt', 'a.md'], tools: ['t2', 't1'] };
    expect(await textOf(shown)).toBe(
      [
        '[Doc] b.txt\n\nThis is b.txt of alpha.',
        '[Doc] a.md\n\nThis is a.md of alpha.',
        '[Tool] t2: does t2\nParameters: {"type":"object"}',
        '[Tool] t1: does t1\nParameters: {"type":"object"}',
      ].join('\n\n'),
    );
  });

  it('leaves out what is not there any more', async () => {
    const gone = { skill: 'alpha', body: false, docs: ['old.md', 'a.md'], tools: ['old'] };
    expect(await textOf(gone)).toBe('[Doc] a.md\n\nThis is a.md of alpha.');
    expect(await textOf({ skill: 'gone', body: true, docs: ['a.md'] })).toBe('');
  });

  it('is read when it is first shown, and stays as it was for the turn', async () => {
    const reads: string[] = [];
    const skills: TurnSkills = {
      ...three.skills,
      readDoc: (skill, path) => Promise.resolve(`${skill.name} ${path} ${reads.push(path)}`),
    };
    const content = open(skills);
    const shown = { skill: 'alpha', body: false, docs: ['a.md'] };
    expect(await textOf(shown, content)).toBe('[Doc] a.md\n\nalpha a.md 1');
    await content.prepare({ ...shown, body: true, docs: ['a.md', 'b.txt'] });
    expect(content.textOf(shown)).toBe('[Doc] a.md\n\nalpha a.md 1');
    expect(reads).toEqual(['a.md', 'b.txt']);
  });

  it('never mixes up docs of the same name', async () => {
    const skills: TurnSkills = {
      ...three.skills,
      get: (name) => {
        const skill = three.skills.get(name);
        return skill && { ...skill, docs: ['same.md'] };
      },
      readDoc: ({ name }, path) => Promise.resolve(`${path} of ${name}`),
    };
    const content = open(skills);
    await textOf({ skill: 'beta', body: false, docs: ['same.md'] }, content);
    expect(await textOf({ skill: 'alpha', body: false, docs: ['same.md'] }, content)).toBe(
      '[Doc] same.md\n\nsame.md of alpha',
    );
  });

  it('keeps bodies and docs to budgets of their own, and says what was left out', async () => {
    const shown = { skill: 'alpha', body: true, docs: ['a.md'] };
    const short = await textOf(shown, open(three.skills, { bodyTokens: 5 }));
    expect(short).toMatch(
      /\n\n\[The rest of this skill’s text is left out: \d+ tokens over the limit of 5\.\]\n\n/,
    );
    expect(short).toContain('This is a.md of alpha.');
    const shortDoc = await textOf(shown, open(three.skills, { docTokens: 2 }));
    expect(shortDoc).toContain(alpha);
    expect(shortDoc).toMatch(
      /\[Doc\] a\.md\n\nThis is\n\n\[The rest of this document is left out: \d+ tokens over the limit of 2\.\]$/,
    );
  });
});
