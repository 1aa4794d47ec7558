import type {
  ShownSkill,
  ToolCall,
  ToolCallRecord,
  ToolMessage,
  TurnId,
} from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Redactor } from '../../shared/logging/redactor.js';
import type { EventSink } from '../publish/event-sink.js';
import type { ToolContext, ToolOutcome } from '../tools/tool.js';
import { isEmpty } from '../prompt/shown-content.js';
import { parseArguments, type ParsedArguments } from '../model/parse-arguments.js';
import type { ToolBelt } from './tool-belt.js';

/** What a tool call is made with; the context's own fields are filled in per call. */
export interface CallToolOptions {
  readonly turnId: TurnId;
  readonly attempt: number;
  /** Unique in the turn, unlike the model's own id. */
  readonly callId: string;
  readonly belt: Pick<ToolBelt, 'resolve' | 'isParallel'>;
  /** Did the reply that made the call come to the model's output limit? */
  readonly isCut: boolean;
  /** What of a skill's text the conversation does not show yet. */
  readonly newly: (shown: ShownSkill) => ShownSkill;
  readonly context: Omit<ToolContext, 'callId' | 'onOutput'>;
  readonly events: EventSink;
  readonly redact: Redactor;
  /** Tells the operator of a fault of ours that the model is told of as well. */
  readonly onFault: (error: SkillmillError) => void;
}

export interface AnsweredCall {
  readonly message: ToolMessage;
  readonly record: ToolCallRecord;
}

/** Answers one call. A tool's failure becomes its answer. @throws UnfinishedCall for the signal's reason and infrastructure failures */
export async function callTool(call: ToolCall, options: CallToolOptions): Promise<AnsweredCall> {
  const { callId, events, context } = options;
  const args = parseArguments(call.arguments);
  const shownArguments = options.redact.value(args.value);
  events.emit({ type: 'tool.started', callId, name: call.name, arguments: shownArguments });
  const startedAt = performance.now();
  const recordOf = (outcome: Partial<ToolOutcome>): ToolCallRecord => {
    const durationMs = Math.round(performance.now() - startedAt);
    const error = outcome.error?.toPublic() ?? null;
    const exitCode = outcome.exitCode ?? null;
    events.emit({ type: 'tool.completed', callId, name: call.name, durationMs, exitCode, error });
    return {
      id: callId,
      name: call.name,
      arguments: shownArguments,
      result: outcome.result ?? null,
      error,
      durationMs,
      attempt: options.attempt,
    };
  };
  try {
    const told = await settle(execute(call, args, options), context.signal, options.onFault);
    const outcome = withoutSecrets(told, options.redact);
    return { message: messageOf(call, outcome, options), record: recordOf(outcome) };
  } catch (thrown) {
    const error = options.redact.error(SkillmillError.from(thrown));
    throw new UnfinishedCall(recordOf({ error }), thrown);
  }
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
