import { LRUCache } from 'lru-cache';
import type { Skill, SkillFile } from '../../shared/skills/skill.js';
import { EntryPack } from '../executor/executor.js';
import { skillEntries } from './skill-stager.js';

/** What all kept packs may hold together, and one of them; an executor may hold as much again for its own form of them. */
const maxBytes = 64 * 1024 * 1024;
const maxPackBytes = 16 * 1024 * 1024;

/** The folders of skills as they are staged, kept for the next job by the skill's digest: the least recently used go. */
export class SkillPacks {
  readonly #packs = new LRUCache<string, EntryPack>({
    maxSize: maxBytes,
    maxEntrySize: maxPackBytes,
    sizeCalculation: ({ entries }) =>
      entries.reduce((sum, { content }) => sum + (content?.byteLength ?? 0) + 512, 0),
  });

  /** @throws what reading the files throws */
  async get(skill: Skill, readFiles: () => Promise<readonly SkillFile[]>): Promise<EntryPack> {
    const key = `${skill.name}/${skill.digest}`;
    const known = this.#packs.get(key);
    if (known !== undefined) return known;
    const pack = new EntryPack(skillEntries(skill.name, await readFiles()));
    this.#packs.set(key, pack);
    return pack;
  }
}
