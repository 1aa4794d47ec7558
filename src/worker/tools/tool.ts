import { z } from 'zod';
import type { BlobStore } from '../../shared/blobs/blob-store.js';
import type { ShownSkill } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { describeFaults, inputFaults } from '../../shared/errors/describe-issues.js';
import type { ToolDefinition } from '../model/model.js';
import type { TurnArtifacts } from '../publish/turn-artifacts.js';
import type { ArtifactPins } from '../session/pinned-artifacts.js';
import type { SkillState } from '../session/skill-state.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import type { TurnToolbox } from '../toolbox/turn-toolbox.js';
import type { Workspace } from '../workspace/workspace.js';

/** The state of loaded skills, as tools may read and change it. */
export interface SkillStateHolder {
  get(): SkillState;
  set(state: SkillState): void;
}

/** What a tool is handed: enough to do its work, and no more (it can stage and run, not create or destroy). */
export interface ToolContext {
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly skills: TurnSkills;
  readonly skillState: SkillStateHolder;
  readonly workspace: Pick<Workspace, 'prepare' | 'run' | 'isChanged' | 'giveUpIfLost'>;
  readonly artifacts: Pick<TurnArtifacts, 'save' | 'find' | 'names'>;
  readonly pins: ArtifactPins;
  readonly toolbox: Pick<TurnToolbox, 'names' | 'schemasFor'>;
  readonly blobs: BlobStore;
  /** A command's output as it comes. */
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
  /** A skill's content or scripts were used in this turn. */
  readonly onSkillUsed: (name: string, how: 'loaded' | 'run') => void;
}

/** What a tool answers. */
export interface ToolOutcome {
  /** Text as it is, or data that becomes JSON. */
  readonly result: unknown;
  /** Content that requests fill in for this result (the stored result stays a short stub). */
  readonly shows?: ShownSkill;
  /** A command's exit code. */
  readonly exitCode?: number;
  /** What went wrong though there is a result, e.g. COMMAND_TIMEOUT. */
  readonly error?: SkillmillError;
}

/** A tool of the loop. */
export interface Tool {
  readonly definition: ToolDefinition;
  /** A line of the prompt on when to use it; what is not registered is not described. */
  readonly guidance?: string | undefined;
  /** May it run beside others of the same turn? One that changes state or runs commands may not. */
  readonly parallel?: boolean | undefined;
  /** @throws SkillmillError TOOL_INPUT_INVALID naming every wrong parameter; whatever the tool itself throws */
  run(args: unknown, context: ToolContext): Promise<ToolOutcome>;
}

/** Makes a tool of its schema and its function; arguments are checked before the function sees them. */
export function defineSkillTool<Schema extends z.ZodObject>(tool: {
  readonly name: string;
  readonly description: string;
  readonly guidance?: string;
  readonly parallel?: boolean;
  readonly parameters: Schema;
  readonly execute: (args: z.output<Schema>, context: ToolContext) => Promise<ToolOutcome>;
}): Tool {
  const schema = z.toJSONSchema(tool.parameters, { io: 'input' });
  delete schema.$schema;
  return {
    definition: { name: tool.name, description: tool.description, parameters: schema },
    guidance: tool.guidance,
    parallel: tool.parallel,
    async run(args, context) {
      const parsed = tool.parameters.safeParse(withoutNulls(args));
      if (parsed.success) return tool.execute(parsed.data, context);
      throw new SkillmillError(
        'TOOL_INPUT_INVALID',
        `Wrong arguments for ${tool.name}: ${describeFaults(inputFaults(parsed.error))}.`,
      );
    },
  };
}

/** Arguments without those that are null: models say so that they give none. */
function withoutNulls(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}
