import type { SkillDiagnostic } from '../../../shared/skills/skill.js';
import { plainPrintable } from '../printable.js';

// What else breaks a line or turns the reading direction.
const lineMarks = /[\t\n\u061c\u200e\u200f\u2028\u2029]/g;

/** Untrusted text as one line of a terminal: it cannot break the line, move the cursor or show in another order than it is written in. */
export function shown(text: string): string {
  return plainPrintable(text).replace(
    lineMarks,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A finding as editors and CI understand it: `file:line: severity rule message`. */
export function findingLine({ file, line, severity, rule, message }: SkillDiagnostic): string {
  const place = line === undefined ? shown(file) : `${shown(file)}:${line}`;
  return `${place}: ${severity} ${rule} ${shown(message)}`;
}

/** As much of a digest as people compare. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}

/** `1 skill`, `2 skills`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
