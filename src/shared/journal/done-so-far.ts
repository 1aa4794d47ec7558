import type {
  Artifact,
  Message,
  TurnId,
  TurnResult,
  Usage,
  WorkspaceVersion,
} from '../contracts/index.js';
import type { JournalEntry, JournalledReply, JournalledResult } from '../contracts/journal.js';

/** What a turn has done that nobody runs any more. */
export interface DoneSoFar {
  /** What followed the user's message. */
  readonly messages: readonly Message[];
  /** The parts of its result. */
  readonly result: Pick<TurnResult, 'toolCalls' | 'artifacts' | 'usage' | 'skills'> & {
    readonly modelMs: number;
    readonly toolMs: number;
  };
  /** The last checkpoint of its files. */
  readonly workspace: WorkspaceVersion | undefined;
}

/** Reads off a journal what its turn leaves when it ends here. */
export function doneSoFar(turnId: TurnId, entries: readonly JournalEntry[]): DoneSoFar {
  const replies = entries.filter((entry) => entry.kind === 'reply');
  const results = entries
    .filter((entry) => entry.kind === 'result')
    .sort((a, b) => numberOf(a.callId) - numberOf(b.callId));
  const used = new Map(
    entries
      .flatMap((entry) => ('skills' in entry ? (entry.skills ?? []) : []))
      .filter((skill) => skill.used)
      .map(({ name, digest }) => [name, digest]),
  );
  return {
    messages: messagesOf(turnId, entries, results),
    result: {
      toolCalls: results.map(({ record }) => record),
      artifacts: results.flatMap(({ artifacts = [] }): Artifact[] => artifacts),
      usage: usageOf(replies, results.length),
      skills: [...used].map(([name, digest]) => ({ name, digest })),
      modelMs: replies.reduce((sum, { ms }) => sum + ms, 0),
      toolMs: results.reduce((sum, { record }) => sum + record.durationMs, 0),
    },
    workspace: results.findLast(({ workspace }) => workspace !== undefined)?.workspace,
  };
}

/** Calls are numbered through a turn: `call_12`. */
function numberOf(callId: string): number {
  return Number(callId.slice(callId.lastIndexOf('_') + 1));
}

/** Replies in order, each with the answers of its calls in theirs. */
function messagesOf(
  turnId: TurnId,
  entries: readonly JournalEntry[],
  results: readonly JournalledResult[],
): Message[] {
  const messages: Message[] = [];
  let answered = 0;
  for (const entry of entries) {
    if (entry.kind === 'message') messages.push({ turnId, role: 'user', content: entry.content });
    if (entry.kind !== 'reply') continue;
    messages.push(assistantMessage(turnId, entry));
    for (const call of entry.reply.toolCalls) {
      const answer = results[answered]?.message;
      // An answer may not stand behind a call that has none.
      if (answer?.toolCallId !== call.id) break;
      messages.push({ ...answer, turnId });
      answered += 1;
    }
  }
  return messages;
}

function assistantMessage(turnId: TurnId, { reply, model }: JournalledReply): Message {
  const { text, toolCalls, reasoning, extra } = reply;
  return {
    turnId,
    role: 'assistant',
    content: text === '' ? null : text,
    toolCalls,
    model,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(extra === undefined ? {} : { extra }),
  };
}

function usageOf(replies: readonly JournalledReply[], toolCalls: number): Usage {
  const usages = replies.flatMap(({ reply }) => (reply.usage === undefined ? [] : [reply.usage]));
  const sum = (field: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') =>
    usages.reduce((total, usage) => total + usage[field], 0);
  return {
    modelCalls: replies.length,
    toolCalls,
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    outputTokens: sum('outputTokens'),
    ...(usages.some(({ estimated }) => estimated === true) ? { estimated: true } : {}),
  };
}
