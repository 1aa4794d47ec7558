import type { Tenant } from '../../shared/contracts/index.js';
import type { PinnedSkill } from '../../shared/contracts/journal.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Skill } from '../../shared/skills/skill.js';
import type { NotedBlobStore } from '../session/noted-blob-store.js';
import type { SkillArchive } from './skill-archive.js';
import type { TurnSkills } from './turn-skills.js';

export interface SkillPinsOptions {
  readonly tenant: Tenant;
  readonly skills: Pick<TurnSkills, 'get' | 'readFiles'>;
  readonly archive: Pick<SkillArchive, 'keep'>;
  readonly blobs: NotedBlobStore;
  readonly signal: AbortSignal;
  /** A pack could not be stored: only a worker with the same skill can go on with the turn. */
  readonly onFault: (skill: string, error: SkillmillError) => void;
}

interface Pin {
  readonly digest: string;
  readonly used: boolean;
  /** Undefined when it could not be stored. */
  readonly pack: Promise<string | undefined>;
}

/** The skills that a turn keeps to: each is stored when the turn first shows or uses it. */
export class SkillPins {
  /** Digests of the skills that were loaded or run, by name, in the order of their first use. */
  readonly used = new Map<string, string>();
  private readonly options: SkillPinsOptions;
  private readonly pins = new Map<string, Pin>();
  private fresh: string[] = [];

  constructor(options: SkillPinsOptions) {
    this.options = options;
  }

  /** Pins a skill that a request shows (`shown`), or that was loaded or run (`used`); gives its digest. */
  pin(name: string, how: 'shown' | 'used'): string {
    const skill = this.options.skills.get(name);
    if (skill === undefined) return '';
    const known = this.pins.get(name);
    const used = how === 'used';
    if (used) this.used.set(name, skill.digest);
    if (known === undefined || (used && !known.used)) {
      const pack = known?.pack ?? this.keep(skill);
      this.pins.set(name, { digest: skill.digest, used, pack });
      this.fresh.push(name);
    }
    return skill.digest;
  }

  /** What was pinned since this was asked last, once it is stored. */
  async takeFresh(): Promise<readonly PinnedSkill[]> {
    const names = this.fresh;
    this.fresh = [];
    return Promise.all(
      names.flatMap((name) => {
        const pin = this.pins.get(name);
        return pin === undefined ? [] : [pinnedSkill(name, pin)];
      }),
    );
  }

  /** Takes over what an attempt before has pinned. */
  restore(pinned: readonly PinnedSkill[]): void {
    for (const { name, digest, used, pack } of pinned) {
      this.pins.set(name, { digest, used, pack: Promise.resolve(pack) });
      if (used) this.used.set(name, digest);
    }
  }

  private async keep(skill: Skill): Promise<string | undefined> {
    const { tenant, archive, skills, blobs, signal, onFault } = this.options;
    const readFiles = () => skills.readFiles(skill);
    try {
      return await archive.keep(tenant, skill, { readFiles, blobs, signal });
    } catch (error) {
      if (!signal.aborted) onFault(skill.name, SkillmillError.from(error));
      return undefined;
    }
  }
}

async function pinnedSkill(name: string, { digest, used, pack }: Pin): Promise<PinnedSkill> {
  const stored = await pack;
  return { name, digest, used, ...(stored === undefined ? {} : { pack: stored }) };
}
