import fc from 'fast-check';
import {
  makeTurnId,
  sessionIdSchema,
  tenantSchema,
  type Message,
  type TurnId,
} from '../../../src/shared/contracts/index.js';

export const newTurnId = (): TurnId =>
  makeTurnId(tenantSchema.parse('t'), sessionIdSchema.parse('s'));

type Role<R extends Message['role']> = Extract<Message, { role: R }>;
export const user = (turnId: TurnId, content = 'hi'): Role<'user'> => ({
  turnId,
  role: 'user',
  content,
});
export const assistant = (
  turnId: TurnId,
  ids: readonly string[],
  content = '',
): Role<'assistant'> => ({
  turnId,
  role: 'assistant',
  content: content === '' ? null : content,
  toolCalls: ids.map((id) => ({ id, name: 'skill_run', arguments: '{}' })),
});
export const answer = (turnId: TurnId, id: string, content = 'ok'): Role<'tool'> => ({
  turnId,
  role: 'tool',
  toolCallId: id,
  name: 'skill_run',
  content,
});

/** What is wrong in a history: every call is answered once, right after its reply, in the order of the calls. */
export function faultOf(messages: readonly Message[]): string | undefined {
  let at = 0;
  while (at < messages.length) {
    const message = messages[at];
    at += 1;
    if (message?.role === 'tool') return `message ${at} answers no call`;
    if (message?.role !== 'assistant') continue;
    for (const call of message.toolCalls) {
      const next = messages[at];
      if (next?.role !== 'tool') return `call ${call.id} has no answer at ${at}`;
      if (next.toolCallId !== call.id) return `call ${call.id} is answered out of order`;
      at += 1;
    }
  }
  return undefined;
}

/** A turn's messages as the loop makes them, ended after any of them: ids may come again from reply to reply. */
export function cutTurns(turnId: TurnId): fc.Arbitrary<Message[]> {
  const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 });
  const step = fc
    .tuple(ids, fc.string())
    .map(([made, text]): Message[] => [
      assistant(turnId, made, text),
      ...made.map((id) => answer(turnId, id)),
    ]);
  return fc.tuple(fc.array(step, { maxLength: 5 }), fc.nat(30)).map(([steps, cut]) => {
    const all = [user(turnId), ...steps.flat()];
    return all.slice(0, 1 + (cut % all.length));
  });
}
