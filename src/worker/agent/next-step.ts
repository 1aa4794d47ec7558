import type { Message, ToolCall } from '../../shared/contracts/index.js';
import { unansweredCalls } from '../../shared/session/turn-messages.js';

/** What happens next in a turn. A new outcome here is a compile error where it is acted on. */
export type Step =
  | { readonly kind: 'call_model' }
  | { readonly kind: 'call_tool'; readonly call: ToolCall }
  | { readonly kind: 'final'; readonly text: string };

/** Reads the next step off a turn's messages: a pure function, so that a turn can go on from wherever its record ends. */
export function nextStep(messages: readonly Message[]): Step {
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const reply = messages[at];
  if (reply?.role !== 'assistant') return { kind: 'call_model' };
  const open = unansweredCalls(messages);
  const [call] = open;
  if (call !== undefined) return { kind: 'call_tool', call };
  return reply.toolCalls.length > 0
    ? { kind: 'call_model' }
    : { kind: 'final', text: reply.content ?? '' };
}
