import type { SkillLoad } from '../../shared/contracts/index.js';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import { loadSkill } from '../session/skill-state.js';
import { unknownSkillMessage, type TurnSkills } from '../skills/turn-skills.js';
import { checkNames, docNames } from '../tools/require-skill.js';
import type { OpenTurn } from './open-turn.js';

/**
 * Loads the skills that the caller declared, all or none, before the first model call; and shows in the system
 * message what is loaded though no tool result brings it.
 * @throws SkillmillError SKILL_NOT_FOUND, SKILL_UNAVAILABLE, SKILL_INVALID, INPUT_INVALID, each naming every fault
 */
export async function loadDeclared(open: OpenTurn): Promise<void> {
  const asked = (open.turn.request.skills ?? []).map(namedLoad);
  checkDeclared(open.skills, asked);
  for (const { name, docs } of asked) {
    const skill = open.skills.get(name);
    if (skill === undefined) continue;
    open.skillState.set(loadSkill(open.skillState.get(), name, { docs, tools: skill.tools }));
    open.onSkillUsed(name, 'loaded');
  }
  for (const message of open.history) {
    const shown = open.shown.filledIn(message);
    if (shown === undefined) continue;
    open.skillPins.pin(shown.skill, 'shown');
    await open.content.prepare(shown);
  }
  // By name: which was used last changes from turn to turn, and the system message must not.
  const inOrder = [...open.skillState.get()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const loaded of inOrder) {
    const skill = open.skills.get(loaded.name);
    if (skill === undefined) continue;
    open.skillPins.pin(skill.name, 'shown');
    const shown = {
      skill: loaded.name,
      body: true,
      docs: [...docNames(skill, loaded.docs)],
      tools: [...open.toolbox.schemasFor(skill, loaded.tools)],
    };
    await open.content.prepare(shown);
    open.shown.showAtTop(shown);
  }
}

type NamedLoad = Exclude<SkillLoad, string>;

function namedLoad(load: SkillLoad): NamedLoad {
  return typeof load === 'string' ? { name: load } : load;
}

/** Checks the whole batch, so that a caller learns of every fault at once. */
function checkDeclared(skills: TurnSkills, asked: readonly NamedLoad[]): void {
  const unknown = asked.filter(({ name }) => skills.get(name) === undefined);
  const faults = [
    ...unknown.map(({ name }) => unknownSkillMessage(skills, name)),
    ...asked.flatMap((load) => docFault(skills, load)),
  ];
  if (faults.length === 0) return;
  const [first] = unknown;
  const code =
    first === undefined ? 'INPUT_INVALID' : (skills.refusal(first.name)?.code ?? 'SKILL_NOT_FOUND');
  throw new SkillmillError(code, faults.join(' '));
}

function docFault(skills: TurnSkills, { name, docs }: NamedLoad): string[] {
  const skill = skills.get(name);
  if (skill === undefined || docs === undefined || docs === '*') return [];
  try {
    checkNames(docs, skill.docs, { of: `The skill ${name}`, noun: 'document' });
    return [];
  } catch (error) {
    return [errorMessage(error)];
  }
}
