import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { tokensOf, withinBudget } from '../../../src/worker/prompt/token-budget.js';

// It takes its time to load.
beforeAll(() => tokensOf('any'));

const note = (leftOut: number) => `[${leftOut} left out]`;
/** What is kept of a text, and how much the note says is not. */
async function cut(text: string, budget: number): Promise<{ kept: string; leftOut: number }> {
  const whole = await withinBudget(text, budget, note);
  const [, kept, leftOut] = /^(.*)\n\n\[(\d+) left out\]$/s.exec(whole) ?? [];
  return kept === undefined ? { kept: whole, leftOut: 0 } : { kept, leftOut: Number(leftOut) };
}

const word = fc.oneof(
  fc.constantFrom('a', ' word', '\n', '\n\n', '  ', '😀', 'Ü', '<|endoftext|>', '漢字', '\ud83d'),
  fc.string({ maxLength: 6, unit: 'binary' }),
);
const anyText = fc.array(word, { maxLength: 60 }).map((words) => words.join(''));

describe('withinBudget', () => {
  it('keeps what fits as it is', async () => {
    const property = fc.asyncProperty(anyText, fc.nat(60), async (text, budget) => {
      fc.pre(text.length > budget || /^[ -~]*$/.test(text));
      const fits = (await tokensOf(text)) <= budget;
      const whole = await withinBudget(text, budget, note);
      expect(whole === text).toBe(fits);
      expect(whole.endsWith(' left out]')).toBe(!fits);
    });
    await fc.assert(property);
  });

  it('counts tokens also when there are few characters', async () => {
    const text = '𐀀'.repeat(50);
    expect(await tokensOf(text)).toBe(200);
    const { kept } = await cut(text, 100);
    expect(await tokensOf(kept)).toBeLessThanOrEqual(100);
  });

  it('keeps a start of what does not fit, within the budget, and says how much is missing', async () => {
    const property = fc.asyncProperty(
      anyText,
      fc.integer({ min: 1, max: 60 }),
      async (text, budget) => {
        const total = await tokensOf(text);
        fc.pre(total > budget && text.length > budget);
        const { kept, leftOut } = await cut(text, budget);
        expect(text.startsWith(kept)).toBe(true);
        expect(await tokensOf(kept)).toBeLessThanOrEqual(budget);
        expect(leftOut).toBeGreaterThan(0);
        expect(leftOut).toBeLessThanOrEqual(total);
      },
    );
    await fc.assert(property, { numRuns: 500 });
  });

  it('cuts after a whole line when the first one fits', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at} of the text`);
    const { kept, leftOut } = await cut(lines.join('\n'), 60);
    const count = kept.split('\n').length;
    expect(lines.slice(0, count).join('\n')).toBe(kept);
    expect(await tokensOf(lines.slice(0, count + 1).join('\n'))).toBeGreaterThan(60);
    expect(leftOut).toBe((await tokensOf(lines.join('\n'))) - (await tokensOf(kept)));
  });

  it('ends what it keeps without blanks', async () => {
    expect(await withinBudget('a\n\n \n\nb c d e f g h', 4, note)).toMatch(
      /^a\n\n\[\d+ left out\]$/,
    );
  });

  it('cuts a first line that is too long between characters', async () => {
    expect((await cut(`${'word '.repeat(50)}\nshort`, 10)).kept).toBe('word '.repeat(10).trimEnd());
    for (let budget = 1; budget < 12; budget += 1) {
      expect((await cut('😀🎉'.repeat(20), budget)).kept.isWellFormed()).toBe(true);
    }
  });

  it('counts what looks like a mark of the model as text', async () => {
    expect(await tokensOf('<|endoftext|><|im_start|>')).toBeGreaterThan(4);
  });

  it('is held up by no long run of letters', async () => {
    const letters = Array.from({ length: 40_000 }, (_, at) => 'aeiou'[(at * at) % 5]).join('');
    // A quadratic tokenizer takes longer than the test may.
    expect((await withinBudget(letters.repeat(5), 1000, note)).length).toBeLessThan(10_000);
  });
});
