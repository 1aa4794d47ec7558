import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { describeFaults, inputFaults } from '../../shared/errors/describe-issues.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { ToolDefinition } from '../model/model.js';
import { isToolboxTool, type ToolboxTool, type ToolCallInfo } from './define-tool.js';

/** A toolbox tool as the loop uses it. */
export interface BusinessTool {
  readonly definition: ToolDefinition;
  /** Answers plain JSON data. @throws SkillmillError TOOL_INPUT_INVALID naming every wrong parameter, TOOL_FAILED with what the tool threw */
  run(args: unknown, call: ToolCallInfo): Promise<unknown>;
}

/** The operator's tools by name; the limit of what a skill or a model may call. */
export type Toolbox = ReadonlyMap<string, BusinessTool>;

export const emptyToolbox: Toolbox = new Map();

const nameRule = /^[A-Za-z0-9_-]{1,64}$/;

/** Loads the module that SKILLMILL_TOOLBOX names. @throws SkillmillError CONFIG_INVALID, all faults at once */
export async function loadToolbox(path: string): Promise<Toolbox> {
  let module: unknown;
  try {
    module = await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    throw new SkillmillError(
      'CONFIG_INVALID',
      `SKILLMILL_TOOLBOX ${path} could not be loaded: ${errorMessage(error)}.`,
      { cause: error },
    );
  }
  return makeToolbox(toolsIn(module), path);
}

/** Every tool that a module exports: by itself, in a list, or in the default export. */
function toolsIn(module: unknown): ToolboxTool[] {
  const exported = typeof module === 'object' && module !== null ? Object.values(module) : [];
  const found = exported.flatMap((value: unknown): unknown[] =>
    Array.isArray(value) ? value : [value],
  );
  return [...new Set(found.filter(isToolboxTool))];
}

/** A toolbox of these tools. @throws SkillmillError CONFIG_INVALID */
export function makeToolbox(tools: readonly ToolboxTool[], path: string): Toolbox {
  const names = tools.map((tool) => tool.name);
  const faults = [
    ...(tools.length === 0 ? ['it exports no tool; make tools with defineTool'] : []),
    ...names.flatMap((name, index) => nameFault(name, names.indexOf(name) !== index)),
  ];
  if (faults.length > 0) {
    throw new SkillmillError('CONFIG_INVALID', `SKILLMILL_TOOLBOX ${path}: ${faults.join('; ')}.`);
  }
  return new Map(tools.map((tool) => [tool.name, toBusinessTool(tool)]));
}

function nameFault(name: string, isRepeated: boolean): string[] {
  if (!nameRule.test(name)) return [`${JSON.stringify(name)} is no name for a tool`];
  if (name.startsWith('skill_')) return [`${name}: names that begin with skill_ are taken`];
  return isRepeated ? [`${name} is there twice`] : [];
}

function toBusinessTool(tool: ToolboxTool): BusinessTool {
  const schema = z.toJSONSchema(tool.parameters, { io: 'input' });
  delete schema.$schema;
  return {
    definition: { name: tool.name, description: tool.description, parameters: schema },
    async run(args, call) {
      const parsed = tool.parameters.safeParse(args);
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
  return z.object({ answer: z.unknown() }).parse(plain).answer ?? null;
}
