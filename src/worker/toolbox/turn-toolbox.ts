import type { Skill } from '../../shared/skills/skill.js';
import type { ToolDefinition } from '../model/model.js';
import type { Selection, SkillState } from '../session/skill-state.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import type { BusinessTool, ToolPool } from './business-tool.js';

/** How toolbox tools reach the model: in the list of tools, or through `skill_tool`. */
export type ToolExposure = 'native' | 'dispatch';

export interface TurnToolboxOptions {
  readonly toolbox: ToolPool;
  readonly allowed: readonly string[] | undefined;
  readonly exposure: ToolExposure;
  readonly skills: TurnSkills;
  readonly state: () => SkillState;
  /** Tools that earlier turns of the session listed, in that order. */
  readonly listedBefore: readonly string[];
}

/** The toolbox as one turn may use it: (selected for loaded skills) ∩ (toolbox ∩ allowed). */
export class TurnToolbox {
  /** Every tool that may become active, sorted. */
  readonly names: readonly string[];
  readonly exposure: ToolExposure;
  private readonly options: TurnToolboxOptions;
  private readonly usable: ToolPool;
  private listedSoFar: readonly string[];

  constructor(options: TurnToolboxOptions) {
    const { toolbox, allowed, exposure } = options;
    this.options = options;
    this.exposure = exposure;
    this.usable = new Map(
      [...toolbox].filter(([name]) => allowed === undefined || allowed.includes(name)),
    );
    this.names = [...this.usable.keys()].sort();
    this.listedSoFar = options.listedBefore;
  }

  /** Names of the active tools: skills in the order of their loading, tools in the order of their selection. */
  active(): readonly string[] {
    const { skills, state } = this.options;
    const selected = state().flatMap((loaded) =>
      toolNames(skills.get(loaded.name), loaded.tools).filter((name) => this.usable.has(name)),
    );
    return [...new Set(selected)];
  }

  /** The tools to list beside the skill tools. Within a session the list only grows, so that the prompt's prefix holds. */
  listed(): readonly ToolDefinition[] {
    if (this.exposure === 'dispatch') return [];
    this.listedSoFar = [...new Set([...this.listedSoFar, ...this.active()])];
    return this.listedSoFar.flatMap((name) => this.definitionOf(name));
  }

  /** Names of what has been listed, in order; what the next turn of the session begins with. */
  get listedNames(): readonly string[] {
    return this.listedSoFar;
  }

  /** The active tool of this name. */
  get(name: string): BusinessTool | undefined {
    return this.active().includes(name) ? this.usable.get(name) : undefined;
  }

  has(name: string): boolean {
    return this.usable.has(name);
  }

  /** Names whose schemas a load has to show, since no tool list carries them. */
  schemasFor(skill: Skill, selection: Selection): readonly string[] {
    if (this.exposure === 'native') return [];
    return toolNames(skill, selection).filter((name) => this.usable.has(name));
  }

  /** What the model is told of a tool: name, description, parameters. */
  definitionOf(name: string): readonly ToolDefinition[] {
    const tool = this.usable.get(name);
    return tool === undefined ? [] : [tool.definition];
  }
}

/** The tools that a selection stands for. */
function toolNames(skill: Skill | undefined, selection: Selection): readonly string[] {
  if (skill === undefined) return [];
  return selection === '*' ? skill.tools : selection;
}
