import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextStep } from '../../../src/worker/agent/next-step.js';
import { answer, assistant, cutTurns, newTurnId, user } from '../session/conversation.js';

const turnId = newTurnId();

it('asks the model first, and after all calls are answered', () => {
  expect(nextStep([user(turnId)])).toEqual({ kind: 'call_model' });
  expect(nextStep([])).toEqual({ kind: 'call_model' });
  expect(nextStep([user(turnId), assistant(turnId, ['a']), answer(turnId, 'a')])).toEqual({
    kind: 'call_model',
  });
});

it('makes the calls that have no answer, in their order', () => {
  const messages = [user(turnId), assistant(turnId, ['a', 'b'])];
  expect(nextStep(messages)).toMatchObject({
    kind: 'call_tools',
    calls: [{ id: 'a' }, { id: 'b' }],
  });
  expect(nextStep([...messages, answer(turnId, 'a')])).toMatchObject({ calls: [{ id: 'b' }] });
});

it('asks to go on when an answer was cut, and joins what came', () => {
  const cut = { ...assistant(turnId, [], 'One, '), cut: true };
  const messages = [user(turnId), cut];
  expect(nextStep(messages)).toEqual({ kind: 'go_on' });
  const asked = [...messages, user(turnId)];
  expect(nextStep(asked)).toEqual({ kind: 'call_model' });
  expect(nextStep([...asked, assistant(turnId, [], 'two.')])).toEqual({
    kind: 'final',
    text: 'One, two.',
  });
  const called = { ...assistant(turnId, ['a'], 'Let me'), cut: true };
  expect(nextStep([user(turnId), called, answer(turnId, 'a')]).kind).toBe('call_model');
});

it('runs calls that come with text, and ends with text alone', () => {
  expect(nextStep([user(turnId), assistant(turnId, ['a'], 'Let me see')]).kind).toBe('call_tools');
  expect(nextStep([user(turnId), assistant(turnId, [], 'Done.')])).toEqual({
    kind: 'final',
    text: 'Done.',
  });
});

it('never makes a call twice: going on from any point comes to the same answers', () => {
  fc.assert(
    fc.property(cutTurns(turnId), (messages) => {
      const going = [...messages];
      for (let step = nextStep(going); step.kind === 'call_tools'; step = nextStep(going)) {
        const reply = going.findLastIndex((message) => message.role === 'assistant');
        const id = step.calls[0]?.id ?? '';
        const since = going.slice(reply);
        expect(since.some((m) => m.role === 'tool' && m.toolCallId === id)).toBe(false);
        going.push(answer(turnId, id));
      }
      expect(nextStep(going).kind).not.toBe('call_tools');
    }),
  );
});
