import type { ContentPart, ResponseFormat, ToolCall } from '../../shared/contracts/index.js';

/** A message as a model gets it: the wire's roles, our names. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly toolCalls: readonly ToolCall[];
      readonly reasoning?: string;
      /** Which model said it: what is a provider's own goes back to that one only. */
      readonly model?: string | undefined;
      readonly extra?: Readonly<Record<string, unknown>> | undefined;
    }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

/** A tool as a model sees it; `parameters` is a JSON Schema. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  /** false: the tools are listed, so that the prompt's prefix holds, but must not be called. */
  readonly mayCallTools?: boolean;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly responseFormat?: ResponseFormat;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** The endpoint gave no count: a tokenizer did. */
  readonly estimated?: boolean;
}

/** Why a model stopped, as far as it matters. Whether it called tools is read off the reply, whatever the endpoint says. */
export type FinishReason = 'stop' | 'length' | 'content_filter';

/** One reply of a model, put right: ids are there and distinct, arguments are text. */
export interface ModelReply {
  /** Empty when the model said nothing. */
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly reasoning?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly finish: FinishReason;
  /** Undefined when the endpoint gave none. */
  readonly usage: ModelUsage | undefined;
}

/** What a caller hands to one model call. */
export interface ModelCallHooks {
  readonly signal: AbortSignal;
  /** Text as it comes, when the endpoint streams. */
  readonly onText: (text: string) => void;
}

/** What the loop needs of a model; no vendor's type is seen here. */
export interface Model {
  /**
   * One call, once: no retries.
   * @throws SkillmillError MODEL_UNAVAILABLE (may be tried again; `details.retryAfterMs` when the endpoint says when),
   * MODEL_REJECTED, MODEL_PROTOCOL, CONTEXT_OVERFLOW; the signal's reason
   */
  call(request: ModelRequest, hooks: ModelCallHooks): Promise<ModelReply>;
}
