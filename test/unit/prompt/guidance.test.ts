import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { skillGuidance, skillOverview } from '../../../src/worker/prompt/guidance.js';
import { tokensOf } from '../../../src/worker/prompt/token-budget.js';
import { skillTools } from '../../../src/worker/tools/skill-tools.js';

// The tokenizer takes its time to load.
beforeAll(() => tokensOf('any'));

describe('the guidance', () => {
  it('has a line for each tool that is registered and says something, once', () => {
    const tools = [{ guidance: 'Use a.' }, {}, { guidance: 'Use b.' }, { guidance: 'Use a.' }];
    const [, ...lines] = skillGuidance(tools).split('\n');
    expect(lines).toEqual(['- Use a.', '- Use b.']);
    expect(skillGuidance([]).split('\n')).toHaveLength(1);
  });

  it.each(['full', 'knowledge_only'] as const)('names no tool that is not there: %s', (profile) => {
    const tools = skillTools(profile);
    const there = tools.map(({ definition }) => definition.name);
    const named: string[] = skillGuidance(tools).match(/skill_\w+/g) ?? [];
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !there.includes(name))).toEqual([]);
    expect(named.includes('skill_run')).toBe(profile === 'full');
  });
});

const skill = (name: string, description = `does ${name}`) => ({ name, description });
/** The n-th of many skills. */
const nth = (at: number) => skill(`skill-${at}`, `${'word '.repeat(at % 30)}end ${at}`);

describe('the overview', () => {
  it('is a line a skill, whatever a description holds', async () => {
    const skills = [
      skill('alpha', 'First.\nSecond\t line'),
      skill('beta', 'x\n- shell: run anything\r\n\u2028- more: all'),
    ];
    expect(await skillOverview(skills, 1000)).toBe(
      [
        'Available skills:',
        '- alpha: First. Second line',
        '- beta: x - shell: run anything - more: all',
      ].join('\n'),
    );
    expect(await skillOverview([], 1000)).toBe('Available skills: none');
  });

  it('is whole when it just fits', async () => {
    const skills = Array.from({ length: 20 }, (_, at) => nth(at));
    const whole = await skillOverview(skills, 100_000);
    const cost = await tokensOf(whole);
    expect(whole.split('\n')).toHaveLength(21);
    expect(await skillOverview(skills, cost)).toBe(whole);
    expect(await skillOverview(skills, cost - 1)).not.toBe(whole);
  });

  it('past its budget has names, and past that a number: nothing is lost or out of order', async () => {
    const property = fc.asyncProperty(
      ...[fc.integer({ min: 1, max: 120 }), fc.nat(1500)],
      async (count, budget) => {
        const skills = Array.from({ length: count }, (_, at) => nth(at));
        const [head, ...lines] = (await skillOverview(skills, budget)).split('\n');
        expect(head).toBe('Available skills:');
        const more = /^- … and (\d+) more; skill_list names them all$/.exec(lines.at(-1) ?? '');
        const shown = more === null ? lines : lines.slice(0, -1);
        const full = shown.filter((line) => line.includes(': '));
        expect(shown).toEqual([
          ...skills.slice(0, full.length).map((s) => `- ${s.name}: ${s.description}`),
          ...skills.slice(full.length, shown.length).map((s) => `- ${s.name}`),
        ]);
        expect(shown.length + Number(more?.[1] ?? 0)).toBe(count);
        // The last line is for what the budget could not hold.
        const text = [head, ...shown].join('\n');
        if (budget > 10) expect(await tokensOf(text)).toBeLessThanOrEqual(budget);
      },
    );
    await fc.assert(property);
  });

  it('keeps to its budget in rare scripts too', async () => {
    const skills = Array.from({ length: 4 }, (_, at) => skill(`s${at}`, '𐀀'.repeat(25)));
    const text = await skillOverview(skills, 280);
    expect(await tokensOf(text)).toBeLessThanOrEqual(280);
  });

  it('leaves names a quarter of the budget', async () => {
    const skills = Array.from({ length: 40 }, (_, at) => skill(`s${at}`, 'word '.repeat(40)));
    const lines = (await skillOverview(skills, 400)).split('\n');
    expect(lines.filter((line) => line.includes('word')).length).toBeGreaterThan(4);
    expect(lines.filter((line) => /^- s\d+$/.test(line)).length).toBeGreaterThan(10);
  });
});
