import type {
  ShownSkill,
  ToolCall,
  ToolCallRecord,
  ToolMessage,
  TurnId,
} from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { EventSink } from '../publish/event-sink.js';
import type { ToolContext, ToolOutcome } from '../tools/tool.js';
import { isEmpty } from '../prompt/shown-content.js';
import type { ToolBelt } from './tool-belt.js';

/** What a tool call is made with; the context's own fields are filled in per call. */
export interface CallToolOptions {
  readonly turnId: TurnId;
  readonly attempt: number;
  /** Unique in the turn, unlike the model's own id. */
  readonly callId: string;
  readonly belt: Pick<ToolBelt, 'resolve'>;
  /** What of a skill's text the conversation does not show yet. */
  readonly newly: (shown: ShownSkill) => ShownSkill;
  readonly context: Omit<ToolContext, 'callId' | 'onOutput'>;
  readonly events: EventSink;
}

export interface AnsweredCall {
  readonly message: ToolMessage;
  readonly record: ToolCallRecord;
}

/** What fails the attempt instead of being told to the model. */
const infrastructure = new Set([
  'SANDBOX_UNAVAILABLE',
  'REDIS_UNAVAILABLE',
  'BLOB_UNAVAILABLE',
  'LEASE_LOST',
  'INTERNAL',
]);

/** Answers one call. A tool's failure becomes its answer. @throws the signal's reason; infrastructure failures */
export async function callTool(call: ToolCall, options: CallToolOptions): Promise<AnsweredCall> {
  const { callId, events, context } = options;
  const args = parseArguments(call.arguments);
  events.emit({ type: 'tool.started', callId, name: call.name, arguments: args.value });
  const startedAt = performance.now();
  const outcome = await settle(execute(call, args, { ...options, context }), context.signal);
  const durationMs = Math.round(performance.now() - startedAt);
  const error = outcome.error?.toPublic() ?? null;
  events.emit({
    type: 'tool.completed',
    callId,
    name: call.name,
    durationMs,
    exitCode: outcome.exitCode ?? null,
    error,
  });
  return {
    message: {
      turnId: options.turnId,
      role: 'tool',
      toolCallId: call.id,
      name: call.name,
      content: typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result),
      ...shownBy(outcome, options),
    },
    record: {
      id: callId,
      name: call.name,
      arguments: args.value,
      result: outcome.result,
      error,
      durationMs,
      attempt: options.attempt,
    },
  };
}

function shownBy(outcome: ToolOutcome, { newly }: CallToolOptions): { shows?: ShownSkill } {
  const shows = outcome.shows === undefined ? undefined : newly(outcome.shows);
  return shows === undefined || isEmpty(shows) ? {} : { shows };
}

type ParsedArguments =
  | { readonly value: unknown; readonly fault?: undefined }
  | { readonly value: string; readonly fault: string };

function parseArguments(text: string): ParsedArguments {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { value: text, fault: error instanceof Error ? error.message : 'no JSON' };
  }
}

async function execute(
  call: ToolCall,
  args: ParsedArguments,
  options: CallToolOptions,
): Promise<ToolOutcome> {
  const tool = options.belt.resolve(call.name);
  if (args.fault !== undefined) {
    throw new SkillmillError(
      'TOOL_INPUT_INVALID',
      `The arguments of ${call.name} are no JSON (${args.fault}). They must fit ${JSON.stringify(tool.definition.parameters)}.`,
    );
  }
  const { callId, events } = options;
  const onOutput: ToolContext['onOutput'] = (stream, text) => events.output(callId, stream, text);
  return tool.run(args.value, { ...options.context, callId, onOutput });
}

/** A failure that a model can do something about, as an answer. */
async function settle(work: Promise<ToolOutcome>, signal: AbortSignal): Promise<ToolOutcome> {
  try {
    return await work;
  } catch (thrown) {
    signal.throwIfAborted();
    const error = SkillmillError.from(thrown);
    if (infrastructure.has(error.code)) throw error;
    return { result: { error: { code: error.code, message: error.message } }, error };
  }
}
