import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageSchema } from '../../../src/shared/contracts/index.js';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import {
  closeTranscript,
  unansweredCalls,
  userMessage,
} from '../../../src/shared/session/turn-messages.js';
import { answer, assistant, cutTurns, faultOf, newTurnId, user } from './conversation.js';

const turnId = newTurnId();
const cancelled = new SkillmillError('CANCELLED', 'It was cancelled.');
const limit = new SkillmillError('LIMIT_EXCEEDED', 'The turn used up its 3 model calls.');

describe('unansweredCalls', () => {
  it('are those of the last reply that have no answer, in their order', () => {
    const messages = [user(turnId), assistant(turnId, ['a', 'b', 'c']), answer(turnId, 'a')];
    const idsOf = (list: Parameters<typeof unansweredCalls>[0]) =>
      unansweredCalls(list).map((call) => call.id);
    expect(idsOf(messages)).toEqual(['b', 'c']);
    expect(idsOf([user(turnId)])).toEqual([]);
    expect(idsOf([])).toEqual([]);
  });

  it('are told apart from calls of an earlier reply with the same id', () => {
    const messages = [
      ...[
        user(turnId),
        assistant(turnId, ['a']),
        answer(turnId, 'a'),
        assistant(turnId, ['a', 'b']),
      ],
    ];
    expect(unansweredCalls(messages).map((call) => call.id)).toEqual(['a', 'b']);
  });
});

describe('closeTranscript', () => {
  it('is valid wherever the turn ended, and keeps what there was', () => {
    fc.assert(
      fc.property(cutTurns(turnId), fc.constantFrom(cancelled, limit), (messages, error) => {
        const closed = closeTranscript(turnId, messages, error);
        expect(faultOf(closed)).toBeUndefined();
        expect(closed.slice(0, messages.length)).toEqual(messages);
        expect(closed.at(-1)).toMatchObject({ role: 'assistant', toolCalls: [] });
        for (const message of closed) {
          expect(messageSchema.parse(message)).toEqual(message);
          if (message.role === 'tool') expect(message.content).not.toBe('');
        }
        expect(unansweredCalls(closed)).toEqual([]);
      }),
    );
  });

  it('says why the turn ended', () => {
    expect(closeTranscript(turnId, [user(turnId)], cancelled).at(-1)?.content).toBe(
      '[This turn was cancelled]',
    );
    expect(closeTranscript(turnId, [user(turnId)], limit).at(-1)?.content).toBe(
      '[This turn failed: The turn used up its 3 model calls.]',
    );
  });

  it('tells each open call that it has no result', () => {
    const [, , second] = closeTranscript(
      turnId,
      [user(turnId), assistant(turnId, ['a'])],
      cancelled,
    );
    expect(second).toMatchObject({ role: 'tool', toolCallId: 'a', name: 'skill_run' });
    expect(JSON.parse(second?.role === 'tool' ? second.content : '')).toMatchObject({
      error: { code: 'CANCELLED' },
    });
  });
});

describe('the checker of this test', () => {
  it.each([
    ['a missing answer', [user(turnId), assistant(turnId, ['a'])]],
    ['a wrong order', [assistant(turnId, ['a', 'b']), answer(turnId, 'b'), answer(turnId, 'a')]],
    ['a late answer', [assistant(turnId, ['a']), user(turnId), answer(turnId, 'a')]],
    ['an answer too many', [assistant(turnId, ['a']), answer(turnId, 'a'), answer(turnId, 'a')]],
  ])('sees %s', (_, messages) => {
    expect(faultOf(messages)).toBeDefined();
  });
});

describe('userMessage', () => {
  const file = { path: 'a/b.csv', sha256: 'a'.repeat(64), sizeBytes: 12 };
  it('is the input as it is, and with files names them', () => {
    expect(userMessage(turnId, 'hi', []).content).toBe('hi');
    expect(userMessage(turnId, 'hi', [file]).content).toBe(
      'hi\n\nFiles with this message:\n- work/inputs/a/b.csv (12 bytes)',
    );
    const parts = [{ type: 'text' as const, text: 'hi' }];
    expect(userMessage(turnId, parts, [file]).content).toEqual([
      ...parts,
      { type: 'text', text: 'Files with this message:\n- work/inputs/a/b.csv (12 bytes)' },
    ]);
  });

  it('says of a file that was never fetched only where it was to go', () => {
    const { content } = userMessage(turnId, 'hi', [{ path: 'a', url: 'https://host/?secret' }]);
    expect(content).toBe('hi\n\nFiles with this message:\n- work/inputs/a (not fetched)');
  });
});
