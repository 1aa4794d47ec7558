import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { DiagnosticList, type SkillRule } from './skill-diagnostic.js';
import type { SkillDiagnostic } from './skill.js';
import { errorMessage } from '../errors/skillmill-error.js';
import { compareText, maxSkillBytes, maxSkillFiles, treeFile, type TreeFile } from './tree-file.js';

const maxFolderDepth = 64;
const filesAtOnce = 64;
const skippedFolders: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** A folder with a SKILL.md, with the files that are its own (those of nested skills are not), sorted by path. */
export interface FoundSkill {
  /** Absolute path without links above it. */
  readonly dir: string;
  /** The folder as the operator knows it: below the root as configured. */
  readonly shown: string;
  readonly folderName: string;
  readonly files: readonly TreeFile[];
  readonly diagnostics: readonly SkillDiagnostic[];
}

/** What a walk found, sorted by path. */
export interface FoundTree {
  readonly skills: readonly FoundSkill[];
  /** Not about one skill: links, wrong spellings, unreadable folders. */
  readonly diagnostics: readonly SkillDiagnostic[];
  /** Every folder that was looked into. */
  readonly folders: readonly string[];
}

/** A folder to walk; a linked skill folder is followed when its target lies in one of `within` (real paths). */
export interface WalkStart {
  readonly dir: string;
  readonly shown: string;
  readonly within: readonly string[];
}

/** Finds the skills at and below a folder by one walk; follows no link but to a skill folder inside `within` (DESIGN §8); `.git` and `node_modules` are skipped; reads no file. */
export async function findSkills(start: WalkStart): Promise<FoundTree> {
  const walk = new TreeWalk(start.within);
  await walk.folder({ dir: start.dir, shown: start.shown, depth: 0 }, undefined);
  await walk.linkedSkills();
  return walk.result();
}

interface Folder {
  readonly dir: string;
  readonly shown: string;
  readonly depth: number;
}

interface OpenSkill {
  readonly folder: Folder;
  readonly files: TreeFile[];
  readonly found: DiagnosticList;
  bytes: number;
  full: boolean;
}

class TreeWalk {
  readonly #within: readonly string[];
  readonly #seen = new Set<string>();
  readonly #skills: OpenSkill[] = [];
  readonly #diagnostics: SkillDiagnostic[] = [];
  readonly #links: Folder[] = [];

  constructor(within: readonly string[]) {
    this.#within = within;
  }

  async folder(folder: Folder, outer: OpenSkill | undefined): Promise<void> {
    if (this.#seen.has(folder.dir)) return;
    this.#seen.add(folder.dir);
    const entries = await this.#entries(folder);
    const skill = this.#skillAt(folder, entries, outer) ?? outer;
    const files = skill ? entries.filter((entry) => entry.isFile()) : [];
    for (let at = 0; skill && !skill.full && at < files.length; at += filesAtOnce) {
      await this.#files(folder, files.slice(at, at + filesAtOnce), skill);
    }
    for (const entry of entries) {
      const inner = below(folder, entry.name);
      if (entry.isSymbolicLink()) await this.#link(inner, entry.name, skill);
      else if (entry.isDirectory() && !skippedFolders.has(entry.name) && this.#mayDescend(inner)) {
        await this.folder(inner, skill);
      }
    }
  }

  /** Follows what was a link to a folder with a SKILL.md, after all real folders, so that a skill is known by its real place. */
  async linkedSkills(): Promise<void> {
    for (let link = this.#links.shift(); link; link = this.#links.shift()) {
      const target = await realpath(link.dir).catch(() => undefined);
      if (target !== undefined) await this.folder({ ...link, dir: target }, undefined);
    }
  }

  result(): FoundTree {
    const skills = this.#skills.map((skill) => ({
      dir: skill.folder.dir,
      shown: skill.folder.shown,
      folderName: basename(resolve(skill.folder.shown)),
      files: skill.files.sort((a, b) => compareText(a.path, b.path)),
      diagnostics: skill.found.all,
    }));
    return { skills, diagnostics: this.#diagnostics, folders: [...this.#seen] };
  }

  async #entries(folder: Folder): Promise<Dirent[]> {
    try {
      const entries = await readdir(folder.dir, { withFileTypes: true });
      return entries.sort((a, b) => compareText(a.name, b.name));
    } catch (thrown) {
      this.#report(
        folder.shown,
        'file-unreadable',
        `The folder cannot be read: ${errorMessage(thrown)}.`,
      );
      return [];
    }
  }

  #skillAt(
    folder: Folder,
    entries: readonly Dirent[],
    outer: OpenSkill | undefined,
  ): OpenSkill | undefined {
    const exact = entries.find((entry) => entry.name === 'SKILL.md');
    const shown = join(folder.shown, 'SKILL.md');
    if (exact?.isFile()) {
      const skill = { folder, files: [], found: new DiagnosticList(shown), bytes: 0, full: false };
      this.#skills.push(skill);
      return skill;
    }
    if (exact?.isDirectory()) {
      this.#leaveOut(shown, 'skill-file-unreadable', 'SKILL.md is a folder; it must be a file.');
    }
    const other = entries.find((entry) => /^skill\.md$/i.test(entry.name) && !entry.isDirectory());
    if (!exact && other) {
      const file = join(folder.shown, other.name);
      const message = `Found ${other.name}; it must be SKILL.md.`;
      if (outer) this.#report(file, 'skill-file-case', message, outer);
      else this.#leaveOut(file, 'skill-file-case', message);
    }
    return undefined;
  }

  #mayDescend(folder: Folder): boolean {
    if (folder.depth <= maxFolderDepth) return true;
    this.#report(
      folder.shown,
      'folder-too-deep',
      `Folders more than ${maxFolderDepth} deep are not looked into.`,
    );
    return false;
  }

  async #link(link: Folder, name: string, skill: OpenSkill | undefined): Promise<void> {
    const target = await realpath(link.dir).catch(() => undefined);
    if (target === undefined) {
      this.#report(link.shown, 'link-broken', 'The link leads nowhere; it is left out.', skill);
    } else if (/^skill\.md$/i.test(name)) {
      const message =
        'SKILL.md is a link, which is not followed; the skill is left out. Put a copy in its place.';
      this.#leaveOut(link.shown, 'link-not-followed', message);
    } else if (await isSkillFolder(target)) {
      if (this.#within.some((root) => target === root || target.startsWith(root + sep))) {
        this.#links.push(link);
        return;
      }
      const message =
        'The link to a skill leads out of the skill roots; it is left out. Copy the skill, or add its folder as a root.';
      this.#report(link.shown, 'link-not-followed', message, skill);
    } else if (skill || (await isFolder(target))) {
      const message =
        'Only links to skill folders are followed; this one is left out. Put a copy in its place.';
      this.#report(link.shown, 'link-not-followed', message, skill);
    }
  }

  async #files(folder: Folder, entries: readonly Dirent[], skill: OpenSkill): Promise<void> {
    const paths = entries.map((entry) => join(folder.dir, entry.name));
    // One that is gone since the folder was read is no fault.
    const allStats = await Promise.all(
      paths.map((path) => lstat(path, { bigint: true }).catch(() => undefined)),
    );
    for (const [at, stats] of allStats.entries()) {
      if (!stats?.isFile() || skill.full) continue;
      skill.bytes += Number(stats.size);
      if (skill.files.length >= maxSkillFiles) {
        skill.full = true;
        skill.found.error(
          'skill-too-many-files',
          `The skill has more than ${maxSkillFiles} files.`,
        );
      } else if (skill.bytes > maxSkillBytes) {
        skill.full = true;
        skill.found.error(
          'skill-too-large',
          `The skill's files have more than ${maxSkillBytes} bytes.`,
        );
      } else {
        const path = (paths[at] ?? '').slice(skill.folder.dir.length + 1).replaceAll(sep, '/');
        skill.files.push(treeFile(path, stats));
      }
    }
  }

  /** A warning about one path, with the skill that it belongs to, if any. */
  #report(file: string, rule: SkillRule, message: string, skill?: OpenSkill): void {
    const found = new DiagnosticList(file);
    found.warn(rule, message);
    (skill?.found.all ?? this.#diagnostics).push(...found.all);
  }

  /** What would have been a skill. */
  #leaveOut(file: string, rule: SkillRule, message: string): void {
    const found = new DiagnosticList(file);
    found.error(rule, message);
    this.#diagnostics.push(...found.all);
  }
}

function below(folder: Folder, name: string): Folder {
  return { dir: join(folder.dir, name), shown: join(folder.shown, name), depth: folder.depth + 1 };
}

async function isSkillFolder(dir: string): Promise<boolean> {
  return stat(join(dir, 'SKILL.md')).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
