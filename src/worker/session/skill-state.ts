import { z } from 'zod';

/** Which docs or tools of a skill are selected: all of them, or these in this order. */
export type Selection = '*' | readonly string[];

export interface LoadedSkill {
  readonly name: string;
  readonly docs: Selection;
  readonly tools: Selection;
}

/** The loaded skills, oldest first; the order is part of what a request is built from. */
export type SkillState = readonly LoadedSkill[];

export const emptySkillState: SkillState = [];

const prefix = 'temp:skill:';
const nameList = z.array(z.string());

/** Loads a skill, or touches one that is loaded: what is not given stays as it was. */
export function loadSkill(
  state: SkillState,
  name: string,
  given: { readonly docs?: Selection | undefined; readonly tools: Selection },
): SkillState {
  const before = state.find((loaded) => loaded.name === name);
  const after: LoadedSkill = {
    name,
    docs: distinct(given.docs) ?? before?.docs ?? [],
    tools: before?.tools ?? given.tools,
  };
  return [...state.filter((loaded) => loaded.name !== name), after];
}

function distinct(selection: Selection | undefined): Selection | undefined {
  return selection === undefined || selection === '*' ? selection : [...new Set(selection)];
}

/** How a selection is changed: `add` keeps the order and never doubles, `replace` narrows also after `*`. */
export type SelectMode = 'add' | 'replace' | 'clear';

/** A selection after a change. */
export function select(
  before: Selection,
  mode: SelectMode,
  given: { readonly names: readonly string[]; readonly all: boolean },
): Selection {
  if (mode === 'clear') return [];
  if (given.all) return '*';
  if (mode === 'replace') return [...new Set(given.names)];
  return before === '*' ? '*' : [...new Set([...before, ...given.names])];
}

/** Changes what is selected of a loaded skill, and makes it the last used one; a skill that is not loaded is left alone. */
export function selectOf(
  state: SkillState,
  name: string,
  change: Partial<Pick<LoadedSkill, 'docs' | 'tools'>>,
): SkillState {
  const before = state.find((loaded) => loaded.name === name);
  if (before === undefined) return state;
  return [...state.filter((loaded) => loaded !== before), { ...before, ...change }];
}

/** The last used skills, at most `max`; 0 is no limit. */
export function keepRecent(state: SkillState, max: number): SkillState {
  return max === 0 ? state : state.slice(-max);
}

/** The state as DESIGN §4.4's hash. */
export function toStateHash(state: SkillState): Record<string, string> {
  const fields = state.flatMap(({ name, docs, tools }): [string, string][] => [
    [`${prefix}loaded:${name}`, '1'],
    [`${prefix}docs:${name}`, formatSelection(docs)],
    [`${prefix}tools:${name}`, formatSelection(tools)],
  ]);
  if (fields.length === 0) return {};
  return {
    ...Object.fromEntries(fields),
    [`${prefix}loaded_order`]: JSON.stringify(state.map((loaded) => loaded.name)),
  };
}

/** The state that a hash holds; what is not in the order is not loaded. */
export function fromStateHash(hash: Readonly<Record<string, string>>): SkillState {
  const order = nameList.parse(JSON.parse(hash[`${prefix}loaded_order`] ?? '[]'));
  return order
    .filter((name) => hash[`${prefix}loaded:${name}`] === '1')
    .map((name) => ({
      name,
      docs: parseSelection(hash[`${prefix}docs:${name}`]),
      tools: parseSelection(hash[`${prefix}tools:${name}`]),
    }));
}

function formatSelection(selection: Selection): string {
  return selection === '*' ? '*' : JSON.stringify(selection);
}

function parseSelection(text: string | undefined): Selection {
  if (text === undefined) return [];
  return text === '*' ? '*' : nameList.parse(JSON.parse(text));
}
