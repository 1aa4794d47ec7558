import type { Message, ToolCall } from '../../shared/contracts/index.js';

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

/** The calls of the last reply that have no answer yet, in the order in which they were made. */
export function unansweredCalls(messages: readonly Message[]): readonly ToolCall[] {
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const reply = messages[at];
  if (reply?.role !== 'assistant') return [];
  const answered = new Set(
    messages.slice(at).flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
  );
  return reply.toolCalls.filter((call) => !answered.has(call.id));
}
