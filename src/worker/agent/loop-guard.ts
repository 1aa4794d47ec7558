import type { Message, ToolCall, ToolMessage } from '../../shared/contracts/index.js';

/** So often a model may do the same with the same outcome before it is told. */
export const toleratedRepeats = 3;
/** Loops of up to so many calls are recognised: A, B, A, B, … has two. */
const longestLoop = 4;
/** Messages at the end that can hold so many repeats, each call with its reply; parallel calls have fewer replies. */
const lookedAt = 2 * longestLoop * (toleratedRepeats + 3);

/** What a model is told with the result that made it one too many. */
export const loopWarning =
  '\n\n[This call has been made several times with the same arguments and the same result. Do something else, or answer with what you have: once more, and the turn ends.]';

/** How often the end of a turn repeats itself: the same calls with the same arguments and results; 1 is no repetition. */
export function repeatsAtEnd(messages: readonly Message[]): number {
  const done = signatures(messages.slice(-lookedAt));
  const counts = Array.from({ length: longestLoop }, (_, index) => repeatsOf(done, index + 1));
  return Math.max(1, ...counts);
}

/** How often the last `period` signatures stand at the end, one after another. */
function repeatsOf(done: readonly string[], period: number): number {
  if (done.length < period) return 0;
  let matching = 0;
  while (
    matching + period < done.length &&
    done.at(-1 - matching) === done.at(-1 - matching - period)
  ) {
    matching += 1;
  }
  return Math.floor(matching / period) + 1;
}

function signatures(messages: readonly Message[]): string[] {
  let calls: readonly ToolCall[] = [];
  const done: string[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') calls = message.toolCalls;
    if (message.role !== 'tool') continue;
    const call = calls.find(({ id }) => id === message.toolCallId);
    done.push(JSON.stringify([message.name, call?.arguments, steadyPart(message)]));
  }
  return done;
}

/** A result without what differs from run to run of a command: how long it took, and the version that a file was kept as. */
function steadyPart({ name, content }: ToolMessage): string {
  const own = content.replace(loopWarning, '');
  if (name !== 'skill_run') return own;
  return own.replace(/"duration_ms":\d+/g, '').replace(/"version":\d+/g, '');
}
