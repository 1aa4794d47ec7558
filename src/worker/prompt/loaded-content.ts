import type { ShownSkill } from '../../shared/contracts/index.js';
import type { ToolDefinition } from '../model/model.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import { withinBudget } from './token-budget.js';

/** Tokens that one text of a skill may take. */
export interface ContentBudgets {
  readonly bodyTokens: number;
  readonly docTokens: number;
}

/**
 * Texts of loaded skills. They are read and cut to their budgets when they are first shown, and kept for the turn,
 * so that a request can be built without reading anything.
 */
export class LoadedContent {
  private readonly skills: TurnSkills;
  private readonly budgets: ContentBudgets;
  private readonly definitionOf: (tool: string) => readonly ToolDefinition[];
  private readonly texts = new Map<string, string>();

  constructor(
    skills: TurnSkills,
    budgets: ContentBudgets,
    definitionOf: (tool: string) => readonly ToolDefinition[],
  ) {
    this.skills = skills;
    this.budgets = budgets;
    this.definitionOf = definitionOf;
  }

  /** Reads what will be shown. @throws SkillmillError SKILL_INVALID */
  async prepare(shown: ShownSkill): Promise<void> {
    const skill = this.skills.get(shown.skill);
    if (skill === undefined) return;
    const { bodyTokens, docTokens } = this.budgets;
    await this.keep(bodyKey(skill.name), () => this.skills.body(skill), bodyTokens, 'skill’s text');
    for (const path of shown.docs) {
      if (!skill.docs.includes(path)) continue;
      const read = () => this.skills.readDoc(skill, path);
      await this.keep(docKey(skill.name, path), read, docTokens, 'document');
    }
  }

  /** `[Loaded] name` and the body, then `[Doc] path` and `[Tool] name` with their texts. */
  textOf(shown: ShownSkill): string {
    const skill = this.skills.get(shown.skill);
    if (skill === undefined) return '';
    const body = shown.body
      ? [`[Loaded] ${skill.name}\n\n${this.texts.get(bodyKey(skill.name)) ?? ''}`]
      : [];
    const others = skill.docs.length > shown.docs.length && shown.body;
    const available = others ? [`Documents of this skill: ${skill.docs.join(', ')}`] : [];
    const docs = shown.docs.flatMap((path) => {
      const text = this.texts.get(docKey(skill.name, path));
      return text === undefined ? [] : [`[Doc] ${path}\n\n${text}`];
    });
    const tools = (shown.tools ?? []).flatMap(this.definitionOf).map(toolText);
    return [...body, ...available, ...docs, ...tools].join('\n\n');
  }

  private async keep(
    key: string,
    read: () => string | Promise<string>,
    budget: number,
    what: string,
  ): Promise<void> {
    if (this.texts.has(key)) return;
    const note = (leftOut: number) =>
      `[The rest of this ${what} is left out: ${leftOut} tokens over the limit of ${budget}.]`;
    this.texts.set(key, await withinBudget((await read()).trim(), budget, note));
  }
}

function toolText(tool: ToolDefinition): string {
  return `[Tool] ${tool.name}: ${tool.description}\nParameters: ${JSON.stringify(tool.parameters)}`;
}

function bodyKey(skill: string): string {
  return `body\n${skill}`;
}

function docKey(skill: string, path: string): string {
  return `doc\n${skill}\n${path}`;
}
