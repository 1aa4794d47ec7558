import { z } from 'zod';
import { describeFaults, inputFaults } from '../../shared/errors/describe-issues.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { ToolDefinition } from '../model/model.js';
import type { ToolboxTool, ToolCallInfo } from './define-tool.js';

/** A toolbox tool as the loop uses it. */
export interface BusinessTool {
  readonly definition: ToolDefinition;
  /** false: never beside another call of the same turn. */
  readonly parallel?: boolean | undefined;
  /** Answers plain JSON data. @throws SkillmillError TOOL_INPUT_INVALID naming every wrong parameter, TOOL_FAILED with what the tool threw */
  run(args: unknown, call: ToolCallInfo): Promise<unknown>;
}

/** The operator's tools by name; the limit of what a skill or a model may call. */
export type ToolPool = ReadonlyMap<string, BusinessTool>;

/** What is wrong with the name of a tool. */
export function toolNameFault(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return `${JSON.stringify(name)} is no name for a tool`;
  if (name.startsWith('skill_')) return `${name}: names that begin with skill_ are taken`;
  return undefined;
}

/** A tool that was made with `defineTool`, for the loop. */
export function toBusinessTool(tool: ToolboxTool): BusinessTool {
  const schema = schemaOf(tool);
  return {
    definition: { name: tool.name, description: tool.description, parameters: schema },
    parallel: tool.parallel,
    async run(args, call) {
      const parsed = await tool.parameters.safeParseAsync(args);
      if (!parsed.success) {
        throw new SkillmillError(
          'TOOL_INPUT_INVALID',
          `Wrong arguments for ${tool.name}: ${describeFaults(inputFaults(parsed.error))}.`,
        );
      }
      try {
        return asPlain(await tool.run(args, call));
      } catch (error) {
        throw new SkillmillError('TOOL_FAILED', `${tool.name} failed: ${errorMessage(error)}`, {
          cause: error,
        });
      }
    },
  };
}

/** What JSON keeps of an answer: a result is stored, and goes to the model as text. @throws TypeError for what JSON cannot hold */
function asPlain(answer: unknown): unknown {
  const plain: unknown = JSON.parse(JSON.stringify({ answer }));
  return z.object({ answer: z.unknown().optional() }).parse(plain).answer ?? null;
}

/** A tool's parameters as the model sees them. @throws SkillmillError CONFIG_INVALID for what JSON cannot hold */
function schemaOf({ name, parameters }: ToolboxTool): Readonly<Record<string, unknown>> {
  try {
    const schema = z.toJSONSchema(parameters, { io: 'input' });
    delete schema.$schema;
    return schema;
  } catch (error) {
    throw new SkillmillError(
      'CONFIG_INVALID',
      `The toolbox’s tool ${name} has parameters that no JSON Schema can tell (${errorMessage(error)}): use types that JSON has.`,
      { cause: error },
    );
  }
}
