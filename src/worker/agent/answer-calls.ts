import type { Message, ToolCall } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { callTool, UnfinishedCall } from './call-tool.js';
import type { AnsweredCall } from './loop-journal.js';
import { loopWarning, repeatsAtEnd, toleratedRepeats } from './loop-guard.js';
import type { AgentPorts, Transcript } from './agent-ports.js';

/**
 * Answers calls in their order. Those that may run beside each other and stand next to each other do so.
 * @throws SkillmillError LIMIT_EXCEEDED, LOOP_DETECTED; the signals' reasons and infrastructure failures. What was answered is kept.
 */
export async function answerCalls(
  calls: readonly ToolCall[],
  transcript: Transcript,
  ports: AgentPorts,
): Promise<void> {
  for (const group of groupsOf(calls, ports)) {
    ports.signal.throwIfAborted();
    ports.stepAside.throwIfAborted();
    const startedAt = performance.now();
    try {
      await answerGroup(group, transcript, ports);
    } finally {
      transcript.toolMs += performance.now() - startedAt;
    }
  }
}

/** Calls that stand next to each other and may run together. */
function groupsOf(calls: readonly ToolCall[], { toolOptions }: AgentPorts): ToolCall[][] {
  const groups: ToolCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const isParallel = toolOptions.belt.isParallel(call.name);
    const last = groups.at(-1);
    if (isParallel && isOpen && last !== undefined) last.push(call);
    else groups.push([call]);
    isOpen = isParallel;
  }
  return groups;
}

async function answerGroup(
  group: readonly ToolCall[],
  transcript: Transcript,
  ports: AgentPorts,
): Promise<void> {
  const { admitted, refusal } = admit(group, ports);
  const first = transcript.toolCalls.length + 1;
  const reply = transcript.messages.findLast(({ role }) => role === 'assistant');
  const isCut = reply?.role === 'assistant' && reply.cut === true;
  const outcomes = await Promise.allSettled(
    admitted.map((call, index) =>
      callTool(call, { ...ports.toolOptions, isCut, callId: `call_${first + index}` }),
    ),
  );
  const answered: AnsweredCall[] = [];
  let journalledMs = 0;
  let failure: Error | undefined;
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') {
      transcript.toolCalls.push(outcome.value.record);
      journalledMs = Math.max(journalledMs, outcome.value.journalledMs ?? 0);
      // An answer may not stand behind a call that has none.
      if (failure === undefined) answered.push(outcome.value);
      continue;
    }
    const reason: unknown = outcome.reason;
    if (reason instanceof UnfinishedCall) transcript.toolCalls.push(reason.record);
    const cause = reason instanceof UnfinishedCall ? reason.cause : reason;
    failure ??= cause instanceof Error ? cause : SkillmillError.from(cause);
  }
  transcript.toolMs += journalledMs;
  const wasTold = isWarned(transcript.messages);
  for (const each of answered) await keep(each, transcript, ports);
  const repeats = repeatsAtEnd(transcript.messages);
  if (wasTold && repeats > toleratedRepeats)
    throw loopDetected(answered.at(-1)?.record.name ?? '', repeats);
  if (failure !== undefined) throw failure;
  if (refusal !== undefined) throw refusal;
}

/** Calls within the turn's limit, and what stands against the first of the others. */
function admit(
  group: readonly ToolCall[],
  { limits }: AgentPorts,
): { admitted: readonly ToolCall[]; refusal?: SkillmillError } {
  const admitted: ToolCall[] = [];
  for (const call of group) {
    try {
      limits.beginToolCall();
    } catch (error) {
      return { admitted, refusal: SkillmillError.from(error) };
    }
    admitted.push(call);
  }
  return { admitted };
}

async function keep(
  { message }: AnsweredCall,
  transcript: Transcript,
  ports: AgentPorts,
): Promise<void> {
  const isTold = repeatsAtEnd([...transcript.messages, message]) > toleratedRepeats;
  const told = isTold ? { ...message, content: `${message.content}${loopWarning}` } : message;
  await ports.onToolMessage(told);
  transcript.messages.push(told);
}

/** Was the model told with its last results that it repeats itself? */
function isWarned(messages: readonly Message[]): boolean {
  const last = messages.findLast(({ role }) => role === 'tool');
  return last?.role === 'tool' && last.content.endsWith(loopWarning);
}

function loopDetected(tool: string, repeats: number): SkillmillError {
  return new SkillmillError(
    'LOOP_DETECTED',
    `The model made the same calls ${repeats} times with the same arguments and results, and went on after it was told. Its last was ${tool}. Say more exactly what it is to do, or use another model.`,
    { details: { tool, repeats } },
  );
}
