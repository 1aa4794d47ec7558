import type { McpAnswer } from './mcp-result.js';

/** What came of a call. `unreached`: the server has surely not begun it. */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly answer: McpAnswer }
  | { readonly kind: 'failed' | 'unreached'; readonly reason: string };

export interface McpCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The same in every attempt of a turn; goes along as `_meta["skillmill/callKey"]`. */
  readonly callKey: string;
  readonly signal: AbortSignal;
}

export interface ListedTools {
  /** As the server describes them. */
  readonly tools: readonly unknown[];
  /** false: the server has more, which are left out. */
  readonly isWhole: boolean;
}
