import { openTurnSkills, type TurnSkills } from '../../../src/worker/skills/turn-skills.js';
import type { SkillState } from '../../../src/worker/session/skill-state.js';
import type { TurnToolbox } from '../../../src/worker/toolbox/turn-toolbox.js';
import type { ToolContext } from '../../../src/worker/tools/tool.js';
import { makeSkillFolder, skillText } from '../skills/skill-folder.js';

/** What the three skills of these tests have, in the order in which it is told. */
export const catalogue: Readonly<
  Record<string, { readonly docs: readonly string[]; readonly tools: readonly string[] }>
> = {
  alpha: { docs: ['a.md', 'b.txt', 'deep/c.md'], tools: ['t2', 't1', 'ghost'] },
  beta: { docs: ['one.md'], tools: ['t2', 't4', 't3'] },
  gamma: { docs: [], tools: [] },
};

/** The operator's tools, not in the order of their names; `ghost` is not among them. */
export const toolboxNames = ['t3', 't1', 't5', 't2', 't4'];

/** A toolbox of tools that answer with their own name. */
export const toolbox = new Map(
  toolboxNames.map((name) => [
    name,
    {
      definition: { name, description: `does ${name}`, parameters: { type: 'object' } },
      run: () => Promise.resolve(name),
    },
  ]),
);

/** The text of a doc, which no other has. */
export const docText = (skill: string, path: string) => `This is ${path} of ${skill}.`;

export interface ThreeSkills {
  /** As a turn sees them that may see all. */
  readonly skills: TurnSkills;
  /** As a turn sees them that may see these. */
  readonly only: (names: readonly string[]) => TurnSkills;
  readonly remove: () => Promise<void>;
}

/** The skills as folders; the test calls `remove`. */
export async function openThreeSkills(): Promise<ThreeSkills> {
  const { root, openRepository, put, putSkill, remove } = await makeSkillFolder();
  for (const [name, { docs, tools }] of Object.entries(catalogue)) {
    const list = tools.length === 0 ? '' : ['Tools:', ...tools.map((t) => `- ${t}`)].join('\n');
    await putSkill(name, skillText(name, `the ${name}`, `I am ${name} in __BASE_DIR__.\n${list}`));
    for (const path of docs) await put(`${name}/${path}`, docText(name, path));
  }
  const snapshot = await openRepository(root).snapshot();
  const only = (names: readonly string[]) => openTurnSkills(snapshot.allowed(names));
  return { skills: openTurnSkills(snapshot), only, remove };
}

const noSandbox = () => Promise.reject(new Error('these tests run no command'));

export interface ContextParts {
  readonly skills: TurnSkills;
  readonly toolbox: TurnToolbox;
  readonly get: () => SkillState;
  readonly set: (state: SkillState) => void;
  readonly onSkillUsed?: ToolContext['onSkillUsed'];
}

/** A tool's context with no sandbox behind it. */
export function contextOf(parts: ContextParts): ToolContext {
  const { skills, get, set } = parts;
  return {
    callId: 'call_1',
    signal: new AbortController().signal,
    skills,
    skillState: { get, set },
    toolbox: parts.toolbox,
    workspace: {
      prepare: noSandbox,
      run: noSandbox,
      isChanged: () => false,
      giveUpIfLost: noSandbox,
    },
    artifacts: {
      save: () => {
        throw new Error('these tests save nothing');
      },
      find: () => undefined,
      names: () => [],
    },
    pins: new Map(),
    blobs: { put: noSandbox, open: noSandbox },
    onOutput: () => undefined,
    onSkillUsed: parts.onSkillUsed ?? (() => undefined),
  };
}
