import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { untilAbort } from '../async/until-abort.js';
import type { ToolDefinition } from '../model/model.js';
import type { TurnToolbox } from '../toolbox/turn-toolbox.js';
import type { ToolCallInfo } from '../toolbox/define-tool.js';
import { dispatchTool } from '../tools/skill-tool.js';
import type { Tool, ToolContext, ToolOutcome } from '../tools/tool.js';

/** A tool that is ready to be called. */
export type ReadyTool = Pick<Tool, 'run' | 'definition'>;

/** What a turn's model may call: the skill tools, and of the toolbox what loaded skills made active. */
export interface ToolBelt {
  /** The tools that every request lists; the prompt describes these. */
  readonly skillTools: readonly Tool[];
  /** What the next request lists. */
  definitions(): readonly ToolDefinition[];
  /** @throws SkillmillError TOOL_NOT_FOUND, TOOL_NOT_ACTIVE, each with the names that may be called */
  resolve(name: string): ReadyTool;
  /** May a call of this name run beside others? */
  isParallel(name: string): boolean;
}

export interface ToolBeltOptions {
  readonly skillTools: readonly Tool[];
  readonly toolbox: TurnToolbox;
  readonly turn: Omit<ToolCallInfo, 'callKey' | 'signal'>;
}

/** Joins the skill tools and the turn's toolbox. */
export function createToolBelt(options: ToolBeltOptions): ToolBelt {
  const { toolbox } = options;
  const dispatching = toolbox.exposure === 'dispatch' && toolbox.names.length > 0;
  const business = (name: string) => businessTool(name, options);
  const fixed = dispatching ? [...options.skillTools, dispatchTool(business)] : options.skillTools;
  return {
    skillTools: fixed,
    definitions: () => [...fixed.map((tool) => tool.definition), ...toolbox.listed()],
    isParallel(name) {
      const tool = fixed.find(({ definition }) => definition.name === name);
      if (tool !== undefined) return tool.parallel === true;
      const active = toolbox.get(name);
      return active !== undefined && active.parallel !== false;
    },
    resolve(name) {
      const tool = fixed.find((candidate) => candidate.definition.name === name);
      if (tool !== undefined) return tool;
      if (toolbox.has(name)) return business(name);
      const callable = [...fixed.map(({ definition }) => definition.name), ...toolbox.active()];
      throw new SkillmillError(
        'TOOL_NOT_FOUND',
        `There is no tool ${JSON.stringify(name.slice(0, 100))}; there are ${callable.join(', ')}.`,
      );
    },
  };
}

/** A toolbox tool that is active. @throws SkillmillError TOOL_NOT_ACTIVE */
function businessTool(name: string, { toolbox, turn }: ToolBeltOptions): ReadyTool {
  const tool = toolbox.get(name);
  if (tool === undefined) {
    const active = toolbox.active();
    throw new SkillmillError(
      'TOOL_NOT_ACTIVE',
      `The tool ${JSON.stringify(name)} is not active. Active are: ${active.length === 0 ? 'none' : active.join(', ')}. Load a skill that names it, or add it with skill_select_tools.`,
    );
  }
  return {
    definition: tool.definition,
    async run(args: unknown, { callId, signal }: ToolContext): Promise<ToolOutcome> {
      const callKey = `${turn.turnId}_${callId}`;
      // A tool that does not mind its signal must not hold up the end of its turn.
      return { result: await untilAbort(tool.run(args, { ...turn, callKey, signal }), signal) };
    },
  };
}
