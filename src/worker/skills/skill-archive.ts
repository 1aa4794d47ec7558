import { buffer } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import type { Tenant } from '../../shared/contracts/index.js';
import type { PinnedSkill } from '../../shared/contracts/journal.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { skillFromFiles } from '../../shared/skills/skill-from-files.js';
import { packSkill, unpackSkill } from '../../shared/skills/skill-pack.js';
import type { Skill, SkillFile } from '../../shared/skills/skill.js';
import type { NotedBlobStore } from '../session/noted-blob-store.js';

/** A skill with its files. */
export interface UnpackedSkill {
  readonly skill: Skill;
  readonly files: readonly SkillFile[];
}

/**
 * How long a pack that was put need only be noted again: the turn that put it keeps it for an hour after its end, so that no
 * collection finds it unused meanwhile.
 */
const rememberMs = 600_000;

/** Where a tenant's skills are kept for turns that go on elsewhere: packs in the blob store. A worker remembers which it has put. */
export class SkillArchive {
  private readonly known = new LRUCache<string, string>({ max: 20_000, ttl: rememberMs });

  /** Keeps a skill's files for a turn; gives the blob that holds them. @throws SkillmillError BLOB_UNAVAILABLE, REDIS_UNAVAILABLE; the signal's reason */
  async keep(
    tenant: Tenant,
    skill: Skill,
    source: {
      readonly readFiles: () => Promise<readonly SkillFile[]>;
      readonly blobs: NotedBlobStore;
      readonly signal: AbortSignal;
    },
  ): Promise<string> {
    const key = `${tenant}/${skill.digest}`;
    const known = this.known.get(key);
    if (known !== undefined) {
      await source.blobs.note(known);
      return known;
    }
    const { sha256 } = await source.blobs.put(packSkill(await source.readFiles()), source.signal);
    this.known.set(key, sha256);
    return sha256;
  }

  /** The skill as it was pinned. @throws SkillmillError SKILL_UNAVAILABLE when its bytes are gone, BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
  async open(pinned: PinnedSkill, blobs: Pick<NotedBlobStore, 'open'>): Promise<UnpackedSkill> {
    const { name, digest, pack } = pinned;
    if (pack === undefined) throw gone(pinned);
    try {
      const files = unpackSkill(await buffer(await blobs.open(pack)));
      const skill = skillFromFiles(name, files);
      if (skill?.digest === digest) return { skill, files };
    } catch (error) {
      const isAway =
        error instanceof SkillmillError &&
        ['BLOB_UNAVAILABLE', 'REDIS_UNAVAILABLE'].includes(error.code);
      if (isAway) throw error;
      throw gone(pinned, error);
    }
    throw gone(pinned);
  }
}

function gone({ name, digest }: PinnedSkill, cause?: unknown): SkillmillError {
  return new SkillmillError(
    'SKILL_UNAVAILABLE',
    `The turn began with another version of the skill ${name} (digest ${digest.slice(0, 12)}…) than this worker has, and the copy of it is gone. Enqueue the turn again.`,
    { cause },
  );
}
