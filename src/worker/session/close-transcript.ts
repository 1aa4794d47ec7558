import type { Message, TurnId } from '../../shared/contracts/index.js';
import type { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { unansweredCalls } from '../agent/next-step.js';

/** A turn's messages with every call answered and a last word, so that the next turn's request is valid whatever happened. */
export function closeTranscript(
  turnId: TurnId,
  messages: readonly Message[],
  error: SkillmillError,
): Message[] {
  const said = error.code === 'CANCELLED' ? 'was cancelled' : `failed: ${error.message}`;
  const answers = unansweredCalls(messages).map((call): Message => ({
    turnId,
    role: 'tool',
    toolCallId: call.id,
    name: call.name,
    content: JSON.stringify({
      error: {
        code: error.code,
        message: 'This call has no result: the turn ended before it had one.',
      },
    }),
  }));
  const lastWord: Message = {
    turnId,
    role: 'assistant',
    content: `[This turn ${said}]`,
    toolCalls: [],
  };
  return [...messages, ...answers, lastWord];
}
