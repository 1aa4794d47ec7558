import type { ShownSkill } from '../../shared/contracts/index.js';
import type { TurnSkills } from '../skills/turn-skills.js';

/**
 * Texts of loaded skills. Docs are read when they are first shown, and kept for the turn, so that a request can be
 * built without reading anything.
 */
export class LoadedContent {
  private readonly skills: TurnSkills;
  private readonly docs = new Map<string, string>();

  constructor(skills: TurnSkills) {
    this.skills = skills;
  }

  /** Reads what will be shown. @throws SkillmillError SKILL_INVALID */
  async prepare(shown: ShownSkill): Promise<void> {
    const skill = this.skills.get(shown.skill);
    if (skill === undefined) return;
    for (const path of shown.docs) {
      const key = docKey(shown.skill, path);
      if (!this.docs.has(key)) this.docs.set(key, await this.skills.readDoc(skill, path));
    }
  }

  /** `[Loaded] name` and the body, then `[Doc] path` and the text of each document. */
  textOf(shown: ShownSkill): string {
    const skill = this.skills.get(shown.skill);
    if (skill === undefined) return '';
    const body = shown.body ? [`[Loaded] ${skill.name}\n\n${this.skills.body(skill).trim()}`] : [];
    const available =
      shown.body && skill.docs.length > shown.docs.length
        ? [`Documents of this skill: ${skill.docs.join(', ')}`]
        : [];
    const docs = shown.docs.map(
      (path) => `[Doc] ${path}\n\n${(this.docs.get(docKey(shown.skill, path)) ?? '').trim()}`,
    );
    return [...body, ...available, ...docs].join('\n\n');
  }
}

function docKey(skill: string, path: string): string {
  return `${skill}\n${path}`;
}
