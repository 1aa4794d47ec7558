import type { Message } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { withinBudget } from '../prompt/token-budget.js';
import type { OpenTurn } from './open-turn.js';
import type { TurnDeps } from './turn-deps.js';

const instruction =
  'Summarise the conversation below for the one who has to go on with it: what the user wants, what was decided and done, which files exist, what is open. Keep names, numbers and paths exactly. Write plain text, at most 400 words.';

/** A summary stands in every later request and is never dropped. */
const summaryTokens = 1000;

export interface SummarizeOptions {
  readonly open: OpenTurn;
  readonly deps: TurnDeps;
  readonly model: string;
  /** Tokens that a request may take. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Lets the model summarise messages that no longer fit. When that fails they are left out all the same. @throws the signal's reason */
export async function summarize(
  dropped: readonly Message[],
  { open, deps, model, limit, signal }: SummarizeOptions,
): Promise<void> {
  const known = open.journal.takeSummary();
  if (known !== undefined) {
    if (known.usage !== undefined) open.limits.addTokens(known.usage);
    if (known.text !== undefined) open.summary.replace(open.turn.turnId, known.text, dropped);
    return;
  }
  // The reply that follows it was given without one.
  if (open.journal.nextReply !== undefined) return;
  const before = open.summary.text === undefined ? [] : [`Earlier: ${open.summary.text}`];
  const text = [...before, ...dropped.map(lineOf)].join('\n\n');
  const shown = await withinBudget(text, Math.floor(limit / 2), () => '[… the rest is left out …]');
  try {
    const request = {
      model,
      messages: [
        { role: 'system', content: instruction },
        { role: 'user', content: shown },
      ],
      tools: [],
      maxOutputTokens: summaryTokens,
    } as const;
    const reply = await open.model.call(request, { signal, onText: () => undefined });
    if (reply.usage !== undefined) open.limits.addTokens(reply.usage);
    const said = reply.text.trim();
    const summary = await withinBudget(said, summaryTokens, () => '[…]');
    open.journal.summary({ usage: reply.usage, ...(said === '' ? {} : { text: summary }) });
    if (said !== '') open.summary.replace(open.turn.turnId, summary, dropped);
  } catch (error) {
    signal.throwIfAborted();
    open.journal.summary({});
    deps.logger.log('warn', 'old turns could not be summarised and are left out', {
      turnId: open.turn.turnId,
      reason: SkillmillError.from(error).message,
    });
  }
}

function lineOf(message: Message): string {
  switch (message.role) {
    case 'user':
      return `User: ${textOf(message.content)}`;
    case 'assistant':
      return `Assistant: ${message.content ?? ''}${message.toolCalls.map((call) => `\n  calls ${call.name} ${call.arguments}`).join('')}`;
    case 'tool':
      return `Result of ${message.name}: ${message.content}`;
    case 'summary':
      return `Earlier: ${message.content}`;
  }
}

function textOf(content: Extract<Message, { role: 'user' }>['content']): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '(an image)')).join(' ');
}
