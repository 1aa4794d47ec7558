import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ShownSkill } from '../../../src/shared/contracts/index.js';
import { buildRequest, type RequestParts } from '../../../src/worker/prompt/build-request.js';
import { answer, assistant, cutTurns, newTurnId, user } from '../session/conversation.js';

const [before, turnId] = [newTurnId(), newTurnId()];
const shown: ShownSkill = { skill: 'a', body: true, docs: [] };

const parts = (over: Partial<RequestParts> = {}): RequestParts => ({
  turnId,
  guidance: 'GUIDE',
  overview: 'OVERVIEW',
  atTop: [],
  trailing: [],
  messages: [user(turnId)],
  tools: [],
  filledIn: (message) => (message.role === 'tool' ? message.shows : undefined),
  contentOf: (skill) => `[Loaded] ${skill.skill}`,
  ...over,
});

describe('buildRequest', () => {
  it('begins each request of a turn with all of the one before', () => {
    fc.assert(
      fc.property(cutTurns(before), cutTurns(turnId), (history, own) => {
        const requestAt = (count: number) =>
          buildRequest(parts({ messages: [...history, ...own.slice(0, count)] })).messages;
        for (let count = 1; count < own.length; count += 1) {
          const former = requestAt(count);
          expect(requestAt(count + 1).slice(0, former.length)).toEqual(former);
        }
      }),
    );
  });

  it('gives the same bytes for the same parts', () => {
    const own = [user(turnId), assistant(turnId, ['a']), { ...answer(turnId, 'a'), shows: shown }];
    const text = () => JSON.stringify(buildRequest(parts({ messages: own, atTop: [shown] })));
    expect(text()).toBe(text());
  });

  it('fills loaded content into the result that brought it', () => {
    const own = [user(turnId), assistant(turnId, ['a']), { ...answer(turnId, 'a'), shows: shown }];
    expect(buildRequest(parts({ messages: own })).messages.at(-1)).toEqual({
      role: 'tool',
      toolCallId: 'a',
      content: 'ok\n\n[Loaded] a',
    });
    const stub = buildRequest(parts({ messages: own, filledIn: () => undefined })).messages.at(-1);
    expect(stub).toMatchObject({ content: 'ok' });
  });

  it('puts declared skills into the system message, and what is not to stay last', () => {
    const { messages } = buildRequest(
      parts({ instructions: 'BE KIND', atTop: [shown], trailing: [{ ...shown, skill: 'b' }] }),
    );
    expect(messages[0]).toEqual({
      role: 'system',
      content: 'BE KIND\n\nGUIDE\n\nOVERVIEW\n\n[Loaded] a',
    });
    expect(messages.at(-1)).toEqual({ role: 'user', content: '[Loaded] b' });
    const none = buildRequest(parts({ trailing: [shown], contentOf: () => '' })).messages;
    expect(none).toHaveLength(2);
  });

  it('sends reasoning back within its turn only', () => {
    const reply = (turn: typeof turnId) => ({ ...assistant(turn, ['a']), reasoning: 'r1' });
    const { messages } = buildRequest(
      parts({
        messages: [
          ...[user(before), reply(before), answer(before, 'a')],
          ...[user(turnId), reply(turnId), answer(turnId, 'a')],
        ],
      }),
    );
    expect(messages[2]).not.toHaveProperty('reasoning');
    expect(messages[5]).toHaveProperty('reasoning', 'r1');
  });

  it('leaves out what was not asked for, and sends 0', () => {
    expect(Object.keys(buildRequest(parts())).sort()).toEqual(['messages', 'tools']);
    expect(buildRequest(parts({ temperature: 0, maxOutputTokens: 5 }))).toMatchObject({
      temperature: 0,
      maxOutputTokens: 5,
    });
  });
});
