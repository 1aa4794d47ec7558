import type {
  ShownSkill,
  ToolCall,
  ToolCallRecord,
  ToolMessage,
  TurnEventBody,
  TurnId,
} from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Redactor } from '../../shared/logging/redactor.js';
import type { EventSink } from '../publish/event-sink.js';
import type { ToolContext, ToolOutcome } from '../tools/tool.js';
import type { AnsweredCall, BegunCall, LoopJournal } from './loop-journal.js';
import { isEmpty } from '../prompt/shown-content.js';
import { parseArguments, type ParsedArguments } from '../model/parse-arguments.js';
import type { ToolBelt } from './tool-belt.js';

/** What a tool call is made with; the context's own fields are filled in per call. */
export interface CallToolOptions {
  readonly turnId: TurnId;
  /** Unique in the turn, unlike the model's own id. */
  readonly callId: string;
  readonly belt: Pick<ToolBelt, 'resolve' | 'isParallel'>;
  /** Did the reply that made the call come to the model's output limit? */
  readonly isCut: boolean;
  /** What of a skill's text the conversation does not show yet. */
  readonly newly: (shown: ShownSkill) => ShownSkill;
  readonly context: Omit<ToolContext, 'callId' | 'onOutput'>;
  readonly journal: Pick<LoopJournal, 'answered' | 'begin'>;
  readonly events: Pick<EventSink, 'output'>;
  readonly redact: Redactor;
  /** Tells the operator of a fault of ours that the model is told of as well. */
  readonly onFault: (error: SkillmillError) => void;
}

/** An answer, and how long it took when an attempt before got it. */
export type Answer = AnsweredCall & { readonly journalledMs?: number };

/** Answers one call, from the journal if it is in it. A tool's failure becomes its answer. @throws UnfinishedCall for the signal's reason and infrastructure failures; SkillmillError LEASE_LOST */
export async function callTool(call: ToolCall, options: CallToolOptions): Promise<Answer> {
  const { callId, journal } = options;
  const known = journal.answered(callId);
  if (known !== undefined) {
    if (known.message.shows !== undefined) options.newly(known.message.shows);
    return { ...known, journalledMs: known.record.durationMs };
  }
  const args = parseArguments(call.arguments);
  const shown = { callId, name: call.name, arguments: options.redact.value(args.value) };
  const begun = await journal.begin(callId, (attempt) => ({
    type: 'tool.started',
    ...shown,
    attempt,
  }));
  return answer(call, args, { shown, begun, options });
}

interface RunningCall {
  readonly shown: { readonly name: string; readonly arguments: unknown };
  readonly begun: BegunCall;
  readonly options: CallToolOptions;
}

async function answer(
  call: ToolCall,
  args: ParsedArguments,
  { shown, begun, options }: RunningCall,
): Promise<AnsweredCall> {
  const { callId, context, redact } = options;
  const startedAt = performance.now();
  const recordOf = (outcome: Partial<ToolOutcome>): ToolCallRecord => ({
    id: callId,
    name: call.name,
    arguments: shown.arguments,
    result: outcome.result ?? null,
    error: outcome.error?.toPublic() ?? null,
    durationMs: Math.round(performance.now() - startedAt),
    attempt: begun.attempt,
  });
  try {
    const told = await settle(execute(call, args, options), context.signal, options.onFault);
    const outcome = withoutSecrets(told, redact);
    const answered = { message: messageOf(call, outcome, options), record: recordOf(outcome) };
    begun.end(answered, completedEvent(answered.record, outcome.exitCode));
    return answered;
  } catch (thrown) {
    const record = recordOf({ error: redact.error(SkillmillError.from(thrown)) });
    begun.giveUp(completedEvent(record));
    throw new UnfinishedCall(record, thrown);
  }
}

function completedEvent(
  { id: callId, name, durationMs, error }: ToolCallRecord,
  exitCode: number | null = null,
): TurnEventBody {
  return { type: 'tool.completed', callId, name, durationMs, exitCode, error };
}

/** The end of a turn in the middle of a call: the call is told of in the result all the same. */
export class UnfinishedCall extends Error {
  readonly record: ToolCallRecord;

  constructor(record: ToolCallRecord, reason: unknown) {
    super('a tool call was not finished', { cause: reason });
    this.record = record;
  }
}

function messageOf(call: ToolCall, outcome: ToolOutcome, options: CallToolOptions): ToolMessage {
  return {
    turnId: options.turnId,
    role: 'tool',
    toolCallId: call.id,
    name: call.name,
    content: typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result),
    ...shownBy(outcome, options),
  };
}

function shownBy(outcome: ToolOutcome, { newly }: CallToolOptions): { shows?: ShownSkill } {
  const shows = outcome.shows === undefined ? undefined : newly(outcome.shows);
  return shows === undefined || isEmpty(shows) ? {} : { shows };
}

async function execute(
  call: ToolCall,
  args: ParsedArguments,
  options: CallToolOptions,
): Promise<ToolOutcome> {
  const tool = options.belt.resolve(call.name);
  if (args.fault !== undefined) {
    const cut = options.isCut ? ' Your reply was cut at the model’s output limit.' : '';
    throw new SkillmillError(
      'TOOL_INPUT_INVALID',
      `The arguments of ${call.name} are no JSON (${args.fault}).${cut} They must fit ${JSON.stringify(tool.definition.parameters)}.`,
    );
  }
  const { callId, events, redact } = options;
  const clean = { stdout: redact.stream(), stderr: redact.stream() };
  const onOutput: ToolContext['onOutput'] = (stream, text) =>
    events.output(callId, stream, clean[stream].push(text));
  try {
    return await tool.run(args.value, { ...options.context, callId, onOutput });
  } finally {
    for (const stream of ['stdout', 'stderr'] as const) {
      events.output(callId, stream, clean[stream].end());
    }
  }
}

/** What a tool answers goes to the model, the result and the events: the operator's secrets do not. */
function withoutSecrets(outcome: ToolOutcome, redact: Redactor): ToolOutcome {
  const { error } = outcome;
  return {
    ...outcome,
    result: redact.value(outcome.result),
    ...(error !== undefined && { error: redact.error(error) }),
  };
}

/** A failure that a model can do something about, as an answer. */
async function settle(
  work: Promise<ToolOutcome>,
  signal: AbortSignal,
  onFault: (error: SkillmillError) => void,
): Promise<ToolOutcome> {
  try {
    return await work;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = SkillmillError.from(thrown);
    // A fault of ours in a tool would come again at each try; the model may find another way.
    if (error.code === 'INTERNAL') onFault(error);
    else if (error.failsAttempt || error.code === 'LEASE_LOST') throw error;
    return { result: { error: { code: error.code, message: error.message } }, error };
  }
}
