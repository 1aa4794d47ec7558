import type { Message, ToolCall, TurnId, TurnRequest } from '../contracts/index.js';
import type { SkillmillError } from '../errors/skillmill-error.js';
import { isStored, type RequestedFile } from '../results/stored-request.js';

/** The user's message of a turn, with a note of the files that came with it. */
export function userMessage(
  turnId: TurnId,
  input: TurnRequest['input'],
  files: readonly RequestedFile[],
): Message {
  const base = { turnId, role: 'user' } as const;
  if (files.length === 0) return { ...base, content: input };
  const lines = files.map((file) => `- work/inputs/${file.path} (${sizeOf(file)})`);
  const note = `Files with this message:\n${lines.join('\n')}`;
  return typeof input === 'string'
    ? { ...base, content: `${input}\n\n${note}` }
    : { ...base, content: [...input, { type: 'text', text: note }] };
}

function sizeOf(file: RequestedFile): string {
  return isStored(file) ? `${file.sizeBytes} bytes` : 'not fetched';
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

/** A turn's messages with every call answered and a last word, so that the next turn's request is valid whatever happened. */
export function closeTranscript(
  turnId: TurnId,
  messages: readonly Message[],
  error: SkillmillError,
): Message[] {
  const said = error.code === 'CANCELLED' ? 'was cancelled' : `failed: ${error.message}`;
  const message = 'This call has no result: the turn ended before it had one.';
  const answers = unansweredCalls(messages).map((call): Message => ({
    turnId,
    role: 'tool',
    toolCallId: call.id,
    name: call.name,
    content: JSON.stringify({ error: { code: error.code, message } }),
  }));
  const lastWord: Message = {
    turnId,
    role: 'assistant',
    content: `[This turn ${said}]`,
    toolCalls: [],
  };
  return [...messages, ...answers, lastWord];
}
