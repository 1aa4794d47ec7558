import { catalogue } from './three-skills.js';
import type { SelectArguments, SkillCall } from './skill-calls.js';

/** Everything, or names in the order in which they were chosen. */
type Chosen = 'all' | readonly string[];

/** What a call must answer: a result and what it shows, or a refusal whose sentence holds these words. */
export type Expected =
  | { readonly result: unknown; readonly shows: unknown }
  | { readonly code: string; readonly words: readonly string[] };

export interface ModelRules {
  /** Skills that stay loaded; 0 is no limit. */
  readonly limit: number;
  /** Tools of the toolbox that a turn may use, sorted. */
  readonly usable: readonly string[];
  /** Are tools' schemas shown by results? */
  readonly dispatch: boolean;
}

/** What a session has loaded and selected, by DESIGN §4.4 and §4.5 alone. */
export class SelectModel {
  private rules: ModelRules;
  /** The last used skill is the last one. */
  private readonly held = new Map<string, { readonly docs: Chosen; readonly tools: Chosen }>();
  private listedTools: readonly string[] = [];
  readonly loads: string[] = [];

  constructor(rules: ModelRules) {
    this.rules = rules;
  }

  /** The next turn may use these tools. */
  nextTurn(usable: readonly string[]): void {
    this.rules = { ...this.rules, usable };
  }

  answer({ tool, args }: SkillCall): Expected {
    const { skill_name: name } = args;
    if (!(name in catalogue)) {
      return { code: 'SKILL_NOT_FOUND', words: [name, ...Object.keys(catalogue)] };
    }
    if (tool === 'skill_load') return this.load(name, args);
    if (!this.held.has(name)) return { code: 'SKILL_NOT_LOADED', words: [name, 'skill_load'] };
    return tool === 'skill_select_docs'
      ? this.chooseDocs(name, args)
      : this.chooseTools(name, args);
  }

  /** The session's fields in Redis. */
  hash(): Record<string, string> {
    const fields: Record<string, string> = {};
    for (const [name, { docs, tools }] of this.held) {
      fields[`temp:skill:loaded:${name}`] = '1';
      fields[`temp:skill:docs:${name}`] = docs === 'all' ? '*' : JSON.stringify(docs);
      fields[`temp:skill:tools:${name}`] = tools === 'all' ? '*' : JSON.stringify(tools);
    }
    if (this.held.size === 0) return fields;
    return { ...fields, 'temp:skill:loaded_order': JSON.stringify([...this.held.keys()]) };
  }

  /** (Selected for loaded skills) ∩ (toolbox ∩ allowed). */
  active(): readonly string[] {
    const chosen = [...this.held].flatMap(([name, { tools }]) => named(tools, toolsOf(name)));
    return this.usableOf([...new Set(chosen)]);
  }

  /** A request lists the active tools after all that were listed before it, but for those that its turn may not use. */
  listed(): readonly string[] {
    if (this.rules.dispatch) return [];
    const fresh = this.active().filter((name) => !this.listedTools.includes(name));
    this.listedTools = [...this.listedTools, ...fresh];
    return this.usableOf(this.listedTools);
  }

  private load(name: string, args: SelectArguments): Expected {
    const strays = straysIn(args.docs, docsOf(name));
    if (strays.length > 0) return refusal(strays, docsOf(name));
    const before = this.held.get(name) ?? { docs: [], tools: toolsOf(name) };
    const docs = args.include_all_docs === true ? 'all' : (args.docs ?? before.docs);
    this.use(name, { ...before, docs });
    this.loads.push(name);
    const shown = { docs: named(docs, docsOf(name)), tools: this.shownTools(name) };
    return { result: `skill '${name}' loaded`, shows: { skill: name, body: true, ...shown } };
  }

  private chooseDocs(name: string, args: SelectArguments): Expected {
    const strays = straysIn(args.docs, docsOf(name));
    if (strays.length > 0) return refusal(strays, docsOf(name));
    const before = this.held.get(name) ?? { docs: [], tools: [] };
    const docs = chosen(before.docs, args, { names: args.docs, all: args.include_all_docs });
    this.use(name, { ...before, docs });
    const selected_docs = named(docs, docsOf(name));
    return {
      result: {
        skill: name,
        mode: args.mode ?? 'replace',
        selected_docs,
        include_all_docs: docs === 'all',
      },
      shows: { skill: name, body: false, docs: selected_docs },
    };
  }

  private chooseTools(name: string, args: SelectArguments): Expected {
    const there = [...new Set([...toolsOf(name), ...this.rules.usable])];
    const strays = straysIn(args.tools, there);
    if (strays.length > 0) return refusal(strays, there);
    const before = this.held.get(name) ?? { docs: [], tools: [] };
    const tools = chosen(before.tools, args, { names: args.tools, all: args.include_all_tools });
    this.use(name, { ...before, tools });
    return {
      result: {
        skill: name,
        mode: args.mode ?? 'replace',
        selected_tools: named(tools, toolsOf(name)),
        include_all_tools: tools === 'all',
      },
      shows: { skill: name, body: false, docs: [], tools: this.shownTools(name) },
    };
  }

  /** Puts a skill last, and drops the first while there are too many. */
  private use(name: string, choice: { readonly docs: Chosen; readonly tools: Chosen }): void {
    this.held.delete(name);
    this.held.set(name, choice);
    for (const oldest of this.held.keys()) {
      if (this.rules.limit === 0 || this.held.size <= this.rules.limit) break;
      this.held.delete(oldest);
    }
  }

  private shownTools(name: string): readonly string[] {
    if (!this.rules.dispatch) return [];
    return this.usableOf(named(this.held.get(name)?.tools ?? [], toolsOf(name)));
  }

  private usableOf(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.rules.usable.includes(name));
  }
}

const docsOf = (name: string) => catalogue[name]?.docs ?? [];
const toolsOf = (name: string) => catalogue[name]?.tools ?? [];
const named = (choice: Chosen, all: readonly string[]) => (choice === 'all' ? all : choice);
const straysIn = (names: readonly string[] = [], there: readonly string[]) =>
  names.filter((name) => !there.includes(name));
const refusal = (strays: readonly string[], there: readonly string[]): Expected => ({
  code: 'TOOL_INPUT_INVALID',
  words: [...strays, ...there],
});

function chosen(
  before: Chosen,
  { mode = 'replace' }: SelectArguments,
  given: { readonly names: readonly string[] | undefined; readonly all: boolean | undefined },
): Chosen {
  if (mode === 'clear') return [];
  if (given.all === true) return 'all';
  const kept: string[] = [];
  if (mode === 'add') {
    if (before === 'all') return 'all';
    kept.push(...before);
  }
  for (const name of given.names ?? []) if (!kept.includes(name)) kept.push(name);
  return kept;
}
