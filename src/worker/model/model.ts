import type { ContentPart, ToolCall } from '../../shared/contracts/index.js';

/** A message as a model gets it: the wire's roles, our names. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly toolCalls: readonly ToolCall[];
      readonly reasoning?: string;
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
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
}

export interface ModelUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
}

/** One reply of a model, put right: ids are there and distinct, arguments are text. */
export interface ModelReply {
  /** Empty when the model said nothing. */
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly reasoning?: string;
  readonly usage: ModelUsage;
}

/** What the loop needs of a model; no vendor's type is seen here. */
export interface Model {
  /**
   * One call, once: no retries.
   * @throws SkillmillError MODEL_UNAVAILABLE (may be tried again), MODEL_REJECTED, MODEL_PROTOCOL; the signal's reason
   */
  call(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
}
