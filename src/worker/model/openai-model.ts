import OpenAI from 'openai';
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ModelConfig } from '../../shared/config/config.js';
import type { Model, ModelMessage, ModelRequest } from './model.js';
import { parseArguments } from './parse-arguments.js';
import { asModelError } from './model-errors.js';
import { readReply } from './read-reply.js';

/** A model behind an OpenAI-compatible endpoint. Everything is passed explicitly, so that the client reads no environment. */
export function createOpenAiModel(config: ModelConfig): Model {
  const client = new OpenAI({
    // The client insists on a key; endpoints that need none ignore it.
    apiKey: config.apiKey ?? 'none',
    baseURL: config.baseUrl,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: config.timeoutMs,
    // One place decides on retries (model-retry.ts).
    maxRetries: 0,
    logLevel: 'off',
  });
  const limitField = outputLimitField(config.baseUrl);
  return {
    async call(request, signal) {
      // The client's own time-out ends with the headers; a body that stalls must end as well.
      const timeout = AbortSignal.timeout(config.timeoutMs);
      try {
        const completion: unknown = await client.chat.completions.create(
          toWire(request, limitField),
          {
            signal: AbortSignal.any([signal, timeout]),
          },
        );
        return readReply(completion);
      } catch (error) {
        signal.throwIfAborted();
        throw asModelError(error, {
          endpoint: config.baseUrl,
          timeoutMs: config.timeoutMs,
          status: error instanceof OpenAI.APIError ? numberOr(error.status) : undefined,
          timedOut: timeout.aborted || error instanceof OpenAI.APIConnectionTimeoutError,
          isUnreadable: error instanceof SyntaxError,
          secret: config.apiKey,
        });
      }
    },
  };
}

function numberOr(status: unknown): number | undefined {
  return typeof status === 'number' ? status : undefined;
}

/** OpenAI's and Azure's newer models refuse the old name of the output limit; many other servers know only that one. */
function outputLimitField(baseUrl: string): 'max_completion_tokens' | 'max_tokens' {
  return /(^|\.)(openai\.com|azure\.com)$/.test(new URL(baseUrl).hostname)
    ? 'max_completion_tokens'
    : 'max_tokens';
}

/** Optional fields are left out rather than sent as null, and an empty tool list is not sent: strict servers refuse both. */
function toWire(request: ModelRequest, limitField: string): ChatCompletionCreateParamsNonStreaming {
  const { temperature, maxOutputTokens, tools } = request;
  return {
    model: request.model,
    messages: request.messages.map(toWireMessage),
    stream: false,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { [limitField]: maxOutputTokens }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map((tool) => ({
            type: 'function' as const,
            function: {
              name: tool.name,
              description: tool.description,
              parameters: { ...tool.parameters },
            },
          })),
        }),
  };
}

function toWireMessage(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return {
        role: 'user',
        content:
          typeof message.content === 'string' ? message.content : message.content.map(toWirePart),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant':
      return toWireAssistant(message);
  }
}

type WirePart = Exclude<
  Extract<ChatCompletionMessageParam, { role: 'user' }>['content'],
  string
>[number];
type Part = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>[number];

function toWirePart(part: Part): WirePart {
  if (part.type === 'text') return part;
  const { url, detail } = part.image_url;
  return { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } };
}

function toWireAssistant(
  message: Extract<ModelMessage, { role: 'assistant' }>,
): ChatCompletionMessageParam {
  const hasCalls = message.toolCalls.length > 0;
  const reasoning = message.reasoning === undefined ? {} : { reasoning_content: message.reasoning };
  return {
    role: 'assistant',
    // The key must be there; null is accepted only beside tool calls.
    content:
      message.content === '' && hasCalls ? null : (message.content ?? (hasCalls ? null : '')),
    ...reasoning,
    ...(hasCalls
      ? {
          tool_calls: message.toolCalls.map((call) => ({
            id: call.id,
            type: 'function' as const,
            function: { name: wireName(call.name), arguments: wireArguments(call.arguments) },
          })),
        }
      : {}),
  };
}

/** Endpoints refuse a history whose tool names break their rule, whoever made them up. */
function wireName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_';
}

/** The same for arguments that were no JSON; what was wrong with them stands in the call's answer. */
function wireArguments(text: string): string {
  return parseArguments(text).fault === undefined ? text : '{}';
}
