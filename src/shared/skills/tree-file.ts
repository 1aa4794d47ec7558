import type { BigIntStats } from 'node:fs';

/** Most files of one skill (issue 3). */
export const maxSkillFiles = 10_000;
/** Most bytes of one skill, all files together. */
export const maxSkillBytes = 256 * 1024 * 1024;

/** A regular file of a skill as it was seen by the walk. */
export interface TreeFile {
  /** Relative to the skill's folder, `/` between parts. */
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
  /** Changes whenever the file does: device, inode, size, mode, times. */
  readonly stamp: string;
  /** Last change of content or mode, in milliseconds since 1970. */
  readonly changedAt: number;
}

/** A file of a skill from its stat; `path` is relative to the skill's folder. */
export function treeFile(path: string, stats: BigIntStats): TreeFile {
  const { dev, ino, size, mode, mtimeNs, ctimeNs } = stats;
  return {
    path,
    bytes: Number(size),
    executable: (mode & 0o111n) !== 0n,
    stamp: [dev, ino, size, mode, mtimeNs, ctimeNs].join(' '),
    changedAt: Number(ctimeNs / 1_000_000n),
  };
}

/** Order by UTF-16 code units: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
