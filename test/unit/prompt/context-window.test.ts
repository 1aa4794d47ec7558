import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/shared/contracts/index.js';
import { ContextWindow, type Measured } from '../../../src/worker/prompt/context-window.js';
import { newTurnId } from '../session/conversation.js';

const turns = Array.from({ length: 6 }, newTurnId);
const now = turns[5] ?? newTurnId();

/** A turn with one call, whose result has so many characters. */
function turn(turnId: Message['turnId'], chars: number): Message[] {
  const call = { id: 'c', name: 't', arguments: '{}' };
  return [
    { turnId, role: 'user', content: 'u'.repeat(40) },
    { turnId, role: 'assistant', content: null, toolCalls: [call] },
    { turnId, role: 'tool', toolCallId: 'c', name: 't', content: 'x'.repeat(chars) },
    { turnId, role: 'assistant', content: 'a'.repeat(40), toolCalls: [] },
  ];
}

const textOf = ({ content }: Message) => (typeof content === 'string' ? content : '');

/** One character is one token. */
const measured = (messages: readonly Message[]): Measured => ({
  messages,
  fixedTokens: 100,
  sizeOf: (message, shortened) => Promise.resolve((shortened ?? textOf(message)).length),
});

describe('a conversation that fits', () => {
  it('is left as it is', async () => {
    const window = new ContextWindow(now);
    const messages = turns.flatMap((id) => turn(id, 1000));
    const fit = await window.fit(measured(messages), 10_000);
    expect(fit).toEqual({ fits: true, dropped: [], changed: false });
    expect(window.keep(messages)).toBe(messages);
  });
});

describe('a conversation that does not fit', () => {
  it('has its old results shortened first', async () => {
    const window = new ContextWindow(now);
    const messages = turns.flatMap((id) => turn(id, 2000));
    const fit = await window.fit(measured(messages), 10_000);
    expect(fit).toMatchObject({ fits: true, dropped: [], changed: true });
    const results = messages.filter(({ role }) => role === 'tool');
    expect(results.map((message) => window.shortened(message) !== undefined)).toEqual([
      ...[true, true, true, true],
      ...[false, false],
    ]);
    const [text] = results.map((message) => window.shortened(message));
    expect(text).toMatch(/^x{400}\n\[… 1400 .*\]\nx{200}$/);
  });

  it('loses its oldest turns, whole, and never the one that runs', async () => {
    const window = new ContextWindow(now);
    const messages = turns.flatMap((id) => turn(id, 2000));
    const fit = await window.fit(measured(messages), 2000);
    expect(fit.fits).toBe(true);
    expect(fit.dropped.length % 4).toBe(0);
    const left = window.keep(messages);
    expect(left.slice(-4)).toEqual(messages.slice(-4));
    expect(left[0]?.role).toBe('user');
  });

  it('says when the turn alone is too long', async () => {
    const window = new ContextWindow(now);
    const fit = await window.fit(measured(turn(now, 2000)), 300);
    expect(fit).toMatchObject({ fits: false, changed: true });
  });
});

it('what is left always keeps every call with its answer, and what went stays away', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 6, maxLength: 6 }),
      fc.array(fc.integer({ min: 200, max: 20_000 }), { minLength: 1, maxLength: 4 }),
      async (sizes, limits) => {
        const window = new ContextWindow(now);
        const messages = turns.flatMap((id, index) => turn(id, sizes[index] ?? 0));
        let before = messages.length;
        for (const limit of limits) {
          const { fits } = await window.fit(measured(messages), limit);
          const left = window.keep(messages);
          expect(left.length % 4).toBe(0);
          expect(left.length).toBeLessThanOrEqual(before);
          expect(left.slice(-4)).toEqual(messages.slice(-4));
          before = left.length;
          if (!fits) expect(left.length).toBe(4);
        }
      },
    ),
  );
});
