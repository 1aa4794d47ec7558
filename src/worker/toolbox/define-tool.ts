import type { z } from 'zod';

/** What a toolbox tool knows of the call that it answers. */
export interface ToolCallInfo {
  /** The same in every attempt of the turn, so that a tool can be idempotent. */
  readonly callKey: string;
  readonly turnId: string;
  readonly sessionId: string;
  readonly tenant: string;
  /** Aborts when the turn is cancelled, runs out of time, or is taken over. */
  readonly signal: AbortSignal;
}

/** What `defineTool` takes. `execute` answers anything that JSON can hold; what it throws is told to the model. */
export interface ToolboxToolDefinition<Schema extends z.ZodObject> {
  /** 1–64 of letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
  /** false: never beside another call of the same turn. By default calls that a model makes together run together. */
  readonly parallel?: boolean;
  readonly execute: (args: z.output<Schema>, call: ToolCallInfo) => unknown;
}

/** A tool that an operator offers to skills. Make it with `defineTool`. */
export interface ToolboxTool {
  readonly [toolMark]: true;
  readonly name: string;
  readonly description: string;
  readonly parameters: z.ZodObject;
  readonly parallel?: boolean | undefined;
  /** Runs with arguments that `parameters` has checked. */
  readonly run: (args: unknown, call: ToolCallInfo) => unknown;
}

/** Registered by name, so that a tool made by another copy of this package is known as one. */
const toolMark: unique symbol = Symbol.for('skillmill.toolbox.tool');

/** Makes a tool for the toolbox (`SKILLMILL_TOOLBOX`): its arguments are checked before `execute` sees them. */
export function defineTool<Schema extends z.ZodObject>(
  tool: ToolboxToolDefinition<Schema>,
): ToolboxTool {
  return {
    [toolMark]: true,
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    parallel: tool.parallel,
    run: async (args, call) => tool.execute(await tool.parameters.parseAsync(args), call),
  };
}

/** Was this made by `defineTool`? */
export function isToolboxTool(value: unknown): value is ToolboxTool {
  return typeof value === 'object' && value !== null && toolMark in value;
}
