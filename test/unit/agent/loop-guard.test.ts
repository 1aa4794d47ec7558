import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/shared/contracts/index.js';
import { loopWarning, repeatsAtEnd } from '../../../src/worker/agent/loop-guard.js';
import { newTurnId } from '../session/conversation.js';

const turnId = newTurnId();

/** A turn in which these calls were made, each with its result. */
function turnOf(calls: readonly (readonly [args: string, result: string])[]): Message[] {
  return calls.flatMap(([args, content], index): Message[] => {
    const id = `c${index}`;
    const call = { id, name: 'skill_run', arguments: args };
    return [
      { turnId, role: 'assistant', content: null, toolCalls: [call] },
      { turnId, role: 'tool', toolCallId: id, name: 'skill_run', content },
    ];
  });
}
const times = (count: number, ...calls: (readonly [string, string])[]) =>
  turnOf(Array.from({ length: count }, () => calls).flat());

describe('repetition at the end of a turn', () => {
  it('counts the same call with the same result', () => {
    expect(repeatsAtEnd([])).toBe(1);
    expect(repeatsAtEnd(times(1, ['a', '1']))).toBe(1);
    expect(repeatsAtEnd(times(4, ['a', '1']))).toBe(4);
    expect(repeatsAtEnd([...times(4, ['a', '1']), ...times(1, ['a', '2'])])).toBe(1);
    expect(repeatsAtEnd([...times(4, ['a', '1']), ...times(1, ['b', '1'])])).toBe(1);
  });

  it('sees calls that take turns', () => {
    expect(repeatsAtEnd(times(4, ['a', '1'], ['b', '2']))).toBe(4);
    expect(repeatsAtEnd(times(4, ['a', '1'], ['b', '2'], ['c', '3']))).toBe(4);
  });

  it('takes work that comes to the same result again for no loop', () => {
    const edits = ['1', '2', '3', '4', '5', '6'].flatMap(
      (n) =>
        [
          [`edit ${n}`, 'ok'],
          ['test', 'fails'],
        ] as const,
    );
    expect(repeatsAtEnd(turnOf(edits))).toBe(1);
  });

  it('takes a count that rises for no loop, unless it is a command’s', () => {
    const polls: Message[] = times(5, ['a', 'x']).map((message, index) =>
      message.role === 'tool'
        ? { ...message, name: 'poll', content: `{"version":${index}}` }
        : message,
    );
    expect(repeatsAtEnd(polls)).toBe(1);
  });

  it('looks past what differs from run to run, and past its own warning', () => {
    const results = [7, 8, 9, 10].map((n) => `{"stdout":"x","duration_ms":${n},"version":${n}}`);
    const calls = results.map((result) => ['a', result] as const);
    expect(repeatsAtEnd(turnOf(calls))).toBe(4);
    expect(repeatsAtEnd(turnOf([...calls, ['a', `${results[0]}${loopWarning}`]]))).toBe(5);
  });
});
