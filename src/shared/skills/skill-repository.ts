import { isDeepStrictEqual } from 'node:util';
import { SkillmillError } from '../errors/skillmill-error.js';
import { FolderWatch } from './folder-watch.js';
import { DiagnosticList, quoted } from './skill-diagnostic.js';
import { fingerprintOf, indexSkill, type IndexedSkill } from './skill-index.js';
import { SkillPackStore } from './skill-pack-store.js';
import { resolveRoot, type SkillRoot } from './skill-root.js';
import { makeSnapshot, type SkillSnapshot, type SnapshotEntry } from './skill-snapshot.js';
import { findSkills, type FoundSkill } from './skill-tree.js';
import { compareText } from './tree-file.js';
import type { SkillDiagnostic } from './skill.js';

const skillsAtOnce = 4;
/** What is within a root is watched; that a root's own path leads elsewhere (a link that was switched) is seen after this. */
const resolvedForMs = 1000;

/** The index over all skill roots. */
export interface SkillRepository {
  /** The skills as they are now (a root that is a link as it led a second ago); cheap, and the same object, when nothing changed; never throws for what is wrong in a root. */
  snapshot(): Promise<SkillSnapshot>;
  /** Ends the watch and removes the copies that snapshots read from; harmless when called again. */
  close(): Promise<void>;
}

/** Opens an index over roots, the first of them strongest: folders as paths or `file://` URLs; nothing is read before the first snapshot. */
export function openSkillRepository(roots: readonly string[]): SkillRepository {
  return new FolderRepository(roots);
}

interface Seen {
  readonly found: readonly FoundSkill[];
  readonly diagnostics: readonly SkillDiagnostic[];
}

interface Resolved {
  readonly roots: readonly SkillRoot[];
  readonly faults: readonly SkillDiagnostic[];
}

class FolderRepository implements SkillRepository {
  readonly #roots: readonly string[];
  readonly #packs = new SkillPackStore();
  readonly #watch = new FolderWatch();
  #index: ReadonlyMap<string, IndexedSkill> = new Map();
  #current:
    | {
        snapshot: SkillSnapshot;
        others: readonly SkillDiagnostic[];
        entries: readonly SnapshotEntry[];
      }
    | undefined;
  #resolved: Resolved = { roots: [], faults: [] };
  #resolveAgainAt = -Infinity;
  #isClosed = false;
  #running: Promise<SkillSnapshot> | undefined;
  #next: Promise<SkillSnapshot> | undefined;

  constructor(roots: readonly string[]) {
    this.#roots = [...new Set(roots)];
  }

  snapshot(): Promise<SkillSnapshot> {
    // A look that is under way may have passed what changed since: whoever asks now waits for one more, all together.
    if (this.#running) {
      this.#next ??= this.#running
        .catch(() => undefined)
        .then(() => {
          this.#next = undefined;
          return this.#running ?? this.#start();
        });
      return this.#next;
    }
    return this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (this.#next ?? this.#running)?.catch(() => undefined); // so that it leaves no watch behind
    this.#watch.close();
    await this.#packs.close();
  }

  #start(): Promise<SkillSnapshot> {
    if (this.#isClosed) {
      return Promise.reject(new SkillmillError('INTERNAL', 'The skill repository is closed.'));
    }
    const running = this.#refresh().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #refresh(): Promise<SkillSnapshot> {
    const isRecent = performance.now() < this.#resolveAgainAt;
    if (!isRecent) await this.#resolve();
    const isQuiet = await this.#watch.isQuiet(this.#resolved.roots.map(({ dir }) => dir));
    const isWhole = this.#resolved.faults.length === 0;
    if (this.#current && isQuiet && isWhole) return this.#current.snapshot;
    if (isRecent) await this.#resolve();
    const { roots, faults } = this.#resolved;
    const startedAt = Date.now();
    const seen = await this.#look(roots);
    await this.#readChanged(seen.found);
    this.#watch.looked(Date.now() - startedAt, this.#isSettled());
    return this.#publish(seen, faults);
  }

  async #resolve(): Promise<void> {
    const found = await Promise.all(this.#roots.map(resolveRoot));
    this.#resolved = {
      roots: found.flatMap((root) => ('dir' in root ? [root] : [])),
      faults: found.flatMap((root) => ('dir' in root ? [] : [root])),
    };
    this.#resolveAgainAt = performance.now() + resolvedForMs;
  }

  async #look(roots: readonly SkillRoot[]): Promise<Seen> {
    const within = roots.map(({ dir }) => dir);
    const found = new Map<string, FoundSkill>();
    const diagnostics: SkillDiagnostic[] = [];
    const folders = new Set<string>();
    for (const root of roots) {
      const tree = await findSkills({ ...root, within });
      diagnostics.push(...tree.diagnostics);
      for (const folder of tree.folders) folders.add(folder);
      // Roots may overlap: the same folder again is the same skill.
      for (const skill of tree.skills) if (!found.has(skill.dir)) found.set(skill.dir, skill);
    }
    await this.#watch.follow(within, folders);
    return { found: [...found.values()], diagnostics };
  }

  async #readChanged(found: readonly FoundSkill[]): Promise<void> {
    const index = new Map<string, IndexedSkill>();
    const waiting = found.values();
    const work = async (): Promise<void> => {
      for (const skill of waiting) {
        const known = this.#index.get(skill.dir);
        const isKnown = known?.isSettled === true && known.fingerprint === fingerprintOf(skill);
        index.set(skill.dir, isKnown ? known : await this.#read(skill, known));
      }
    };
    await Promise.all(Array.from({ length: skillsAtOnce }, work));
    await this.#packs.retain(digestsOf(index), digestsOf(this.#index));
    this.#index = index;
  }

  /** Reads a folder again; when it holds what it held, the skill stays the same object. */
  async #read(found: FoundSkill, known: IndexedSkill | undefined): Promise<IndexedSkill> {
    const fresh = await indexSkill(found, this.#packs);
    const isSame = known !== undefined && isDeepStrictEqual(known.skill, fresh.skill);
    return isSame ? { ...fresh, skill: known.skill } : fresh;
  }

  #isSettled(): boolean {
    return [...this.#index.values()].every((indexed) => indexed.isSettled);
  }

  #publish(seen: Seen, faults: readonly SkillDiagnostic[]): SkillSnapshot {
    const byName = new Map<string, SnapshotEntry & { readonly shown: string }>();
    const others = [...faults, ...seen.diagnostics];
    for (const found of seen.found) {
      const indexed = this.#index.get(found.dir);
      const diagnostics = [...found.diagnostics, ...(indexed?.diagnostics ?? [])];
      const winner = indexed?.skill && byName.get(indexed.skill.name);
      if (!indexed?.skill) others.push(...diagnostics);
      else if (winner)
        others.push(...duplicate(indexed.skill.name, found.shown, winner.shown), ...diagnostics);
      else
        byName.set(indexed.skill.name, { skill: indexed.skill, diagnostics, shown: found.shown });
    }
    const entries = [...byName.values()]
      .sort((a, b) => compareText(a.skill.name, b.skill.name))
      .map(({ skill, diagnostics }) => ({ skill, diagnostics }));
    const before = this.#current;
    if (
      before &&
      isDeepStrictEqual(before.others, others) &&
      isDeepStrictEqual(before.entries, entries)
    ) {
      return before.snapshot;
    }
    const snapshot = makeSnapshot(entries, others, (digest) => this.#packs.read(digest));
    this.#current = { snapshot, others, entries };
    return snapshot;
  }
}

function digestsOf(index: ReadonlyMap<string, IndexedSkill>): ReadonlySet<string> {
  return new Set([...index.values()].flatMap(({ skill }) => (skill ? [skill.digest] : [])));
}

function duplicate(name: string, loser: string, winner: string): readonly SkillDiagnostic[] {
  const found = new DiagnosticList(loser);
  found.warn(
    'name-duplicate',
    `The skill ${quoted(name)} is there already, in ${winner}; this one is left out.`,
  );
  return found.all;
}
