import type { ToolCall } from '../../shared/contracts/index.js';
import type { ModelMessage, ModelRequest, ToolDefinition } from './model.js';
import { parseArguments } from './parse-arguments.js';
import type { WireDialect } from './wire-dialect.js';

/** A request's body. Optional fields are left out rather than sent as null, and an empty tool list is not sent: strict servers refuse both. */
export interface WireRequest extends Record<string, unknown> {
  readonly model: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly stream: boolean;
}

/** Writes a request as its endpoint takes it. */
export function toWire(request: ModelRequest, dialect: WireDialect, stream: boolean): WireRequest {
  const { temperature, maxOutputTokens, tools, mayCallTools, responseFormat } = request;
  const { limitField } = dialect;
  const streams = stream && dialect.takes('stream');
  return {
    model: request.model,
    messages: request.messages.map((message) => toWireMessage(message, request.model, dialect)),
    stream: streams,
    ...(streams && dialect.takes('stream_options')
      ? { stream_options: { include_usage: true } }
      : {}),
    ...(temperature === undefined || !dialect.takes('temperature') ? {} : { temperature }),
    ...(maxOutputTokens === undefined || limitField === undefined
      ? {}
      : { [limitField]: maxOutputTokens }),
    ...(responseFormat === undefined ? {} : { response_format: responseFormat }),
    ...(tools.length === 0 ? {} : { tools: tools.map(toWireTool) }),
    ...(mayCallTools === false && tools.length > 0 && dialect.takes('tool_choice')
      ? { tool_choice: 'none' }
      : {}),
  };
}

function toWireTool({ name, description, parameters }: ToolDefinition) {
  return { type: 'function', function: { name, description, parameters: { ...parameters } } };
}

function toWireMessage(
  message: ModelMessage,
  model: string,
  dialect: WireDialect,
): Record<string, unknown> {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant':
      return toWireAssistant(message, model, dialect);
  }
}

function toWireAssistant(
  message: Extract<ModelMessage, { role: 'assistant' }>,
  model: string,
  dialect: WireDialect,
): Record<string, unknown> {
  const { content, toolCalls, reasoning, extra } = message;
  const hasCalls = toolCalls.length > 0;
  const isOwn = message.model === undefined || message.model === model;
  const details = isOwn ? extra?.['reasoning_details'] : undefined;
  return {
    role: 'assistant',
    // The key must be there; null is accepted only beside tool calls.
    content: content === '' && hasCalls ? null : (content ?? (hasCalls ? null : '')),
    ...(reasoning !== undefined && isOwn && dialect.takes('reasoning_content')
      ? { reasoning_content: reasoning }
      : {}),
    ...(details !== undefined && dialect.takes('reasoning_details')
      ? { reasoning_details: details }
      : {}),
    ...(hasCalls
      ? {
          tool_calls: toolCalls.map((call) =>
            toWireCall(call, isOwn && dialect.takes('extra_content')),
          ),
        }
      : {}),
  };
}

function toWireCall(call: ToolCall, withExtra: boolean): Record<string, unknown> {
  // Gemini refuses a call that comes back without its thought signature.
  const extra = withExtra ? call.extra?.['extra_content'] : undefined;
  return {
    id: call.id,
    type: 'function',
    function: { name: wireName(call.name), arguments: wireArguments(call.arguments) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

/** Endpoints refuse a history whose tool names break their rule, whoever made them up. */
function wireName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_';
}

/** The same for arguments that were no JSON; what was wrong with them stands in the call's answer. Strict servers want an object. */
function wireArguments(text: string): string {
  const { value, fault } = parseArguments(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return fault === undefined && isObject ? text : '{}';
}
