import type { PinnedSkill } from '../../shared/contracts/journal.js';
import { docText } from '../../shared/skills/skill-docs.js';
import { compareText } from '../../shared/skills/tree-file.js';
import type { NotedBlobStore } from '../session/noted-blob-store.js';
import type { SkillArchive, UnpackedSkill } from './skill-archive.js';
import { baseDirOf, type TurnSkills } from './turn-skills.js';

/** The skills of a turn that goes on: those that it has used are the very bytes with which it began, whatever this worker's roots hold now. @throws SkillmillError SKILL_UNAVAILABLE, BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
export async function openPinnedSkills(
  here: TurnSkills,
  pinned: readonly PinnedSkill[],
  { archive, blobs }: { archive: SkillArchive; blobs: Pick<NotedBlobStore, 'open'> },
): Promise<TurnSkills> {
  const unpacked = new Map<string, UnpackedSkill>();
  for (const pin of pinned) {
    if (here.get(pin.name)?.digest === pin.digest || unpacked.has(pin.name)) continue;
    unpacked.set(pin.name, await archive.open(pin, blobs));
  }
  return unpacked.size === 0 ? here : withUnpacked(here, unpacked);
}

function withUnpacked(here: TurnSkills, unpacked: ReadonlyMap<string, UnpackedSkill>): TurnSkills {
  const others = here.skills.filter(({ name }) => !unpacked.has(name));
  const own = [...unpacked.values()].map(({ skill }) => skill);
  return {
    skills: [...others, ...own].sort((a, b) => compareText(a.name, b.name)),
    get: (name) => unpacked.get(name)?.skill ?? here.get(name),
    refusal: (name) => (unpacked.has(name) ? undefined : here.refusal(name)),
    suggest: (name) => here.suggest(name),
    envOf: (skill) => here.envOf(skill),
    body: (skill) => here.body(skill),
    async readDoc(skill, path) {
      const file = unpacked.get(skill.name)?.files.find((each) => each.path === path);
      return file === undefined
        ? here.readDoc(skill, path)
        : docText(file.content, baseDirOf(skill));
    },
    readFiles: (skill) => {
      const files = unpacked.get(skill.name)?.files;
      return files === undefined ? here.readFiles(skill) : Promise.resolve(files);
    },
  };
}
