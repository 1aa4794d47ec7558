import type { Message, ToolCall } from '../../shared/contracts/index.js';
import { unansweredCalls } from '../../shared/session/turn-messages.js';

/** What happens next in a turn. A new outcome here is a compile error where it is acted on. */
export type Step =
  | { readonly kind: 'call_model' }
  | { readonly kind: 'call_tools'; readonly calls: readonly ToolCall[] }
  /** The answer was cut at the model's output limit: it is asked to go on. */
  | { readonly kind: 'go_on' }
  | { readonly kind: 'final'; readonly text: string };

/** Reads the next step off a turn's messages: a pure function, so that a turn can go on from wherever its record ends. */
export function nextStep(messages: readonly Message[]): Step {
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const reply = messages[at];
  if (reply?.role !== 'assistant') return { kind: 'call_model' };
  const calls = unansweredCalls(messages);
  if (calls.length > 0) return { kind: 'call_tools', calls };
  if (reply.toolCalls.length > 0 || at < messages.length - 1) return { kind: 'call_model' };
  return reply.cut === true ? { kind: 'go_on' } : { kind: 'final', text: finalText(messages) };
}

/** The last answer; one that was cut and gone on with is one answer. */
function finalText(messages: readonly Message[]): string {
  const parts: string[] = [];
  for (let at = messages.length - 1; at >= 0; at -= 2) {
    const reply = messages[at];
    const isPart = reply?.role === 'assistant' && (parts.length === 0 || reply.cut === true);
    if (!isPart) break;
    parts.unshift(reply.content ?? '');
    if (messages[at - 1]?.role !== 'user') break;
  }
  return parts.join('');
}
